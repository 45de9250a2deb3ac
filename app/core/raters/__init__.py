"""Raters: what a member of the community is asked, and what became of the answers.

A new member practises on prepared posts (``practice``), then answers open questions, those first where one more
answer helps most (``help_needed``, ``help_order``). Until a decision a rater sees no score and no other answer
(``blindness``). ``impact`` shows what became of somebody's ratings and notes; ``digests`` are the mails that ask
for help.
"""
