"""Fact-checks that stand for what a file of them holds: the sample files that operators can download."""

SAMPLE = (
    {
        "item_id": "2026-001",
        "dataset_name": "our-checks",
        "claim": "Drinking seawater every morning cures diabetes within two weeks",
        "rating": "False",
        "url": "https://checks.example.org/seawater",
        "publisher": "Example Checks",
        "title": "No, seawater does not cure diabetes",
        "language": "en",
        "reviewed_on": "2026-03-14",
    },
    {
        "item_id": "2026-002",
        "dataset_name": "our-checks",
        "claim": "The old harbour bridge will be closed for all of April",
        "rating": "Mostly true",
        "url": "https://checks.example.org/bridge",
        "publisher": "Example Checks",
        "title": "The bridge closes, with two exceptions",
        "language": "en",
        "reviewed_on": "2026-03-20",
    },
)
