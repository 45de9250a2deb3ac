"""Raters: what members are asked, and the outcome of their answers.

A new member practises on prepared posts (``practice``), then answers open questions, first those where one more
answer helps most (``help_needed``, ``help_order``). Until a decision a rater sees no score and no other answer
(``notes.blindness``). ``impact`` shows the outcome of a member's ratings and notes; ``digests`` are the mails that
ask for help.
"""
