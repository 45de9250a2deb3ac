"""Attachments of posts (docs/integrate/attachments.md).

`adding` stores what an integration sent with a post, and notes a job for each. The job fetches it once (`fetching`),
checks it, and keeps files of its own, named by the hash of their content (`files`). Pages and the API read them with
`reading`. When a post's content is removed, `removing` deletes its attachments, and the files that no other post uses.
"""
