"""Demo posts about the council and its plans. All texts are invented."""

from app.demo.posts import MemberNote, Post, Thread

COUNCIL = (
    Thread(
        "council",
        "New berths at the old quay",
        (
            Post(
                39.34,
                "old_lamplighter",
                "The harbour office wants to rent out six more berths at the old quay.",
            ),
            Post(39.29, "rowing_rik", "Then the rowing club has nowhere to land. Did anybody ask them?"),
            Post(
                39.25,
                "capstan_cass",
                "Shut up about the rowing club for once, you idiots have had the quay to yourselves for forty years.",
                "applied",
                "HhHhS",
            ),
            Post(
                39.13,
                "quayside_jo",
                "There is a hearing on the 3rd, upstairs in the custom house. Come and say it there.",
            ),
        ),
    ),
    Thread(
        "council",
        "Bins at the slip",
        (
            Post(
                31.25,
                "cove_cottage_kim",
                "The bins at the slip are full again by noon. Gulls have the rest all over the road.",
            ),
            Post(31.13, "quayside_jo", "Lids are ordered, says the council. They said it in spring too."),
            Post(
                31.08,
                "mooring_17",
                "The clerk is an idiot and always was. Here is his private number, ring him: 202-555-0171.",
                "forced",
                "Hh",
                "A private number, and he did not agree to it.",
            ),
        ),
    ),
    Thread(
        "council",
        "Was the berth vote counted right?",
        (
            Post(20.17, "berth_no_9", "31 to 30. I was there and I counted 33 hands."),
            Post(
                20.13,
                "keel_over_kay",
                "That vote was rigged from the start and the whole election was stolen for the hotel people.",
                "applied",
                "hHhHh",
                notes=(
                    MemberNote(
                        "quayside_jo",
                        "The minutes name every vote: 31 to 30, three abstentions. They hang in the custom house, and "
                        "anybody may ask for a recount within a week.",
                        "HhHhs",
                        sources=("https://council.example.org/minutes/berths",),
                    ),
                ),
            ),
            Post(20.04, "quayside_jo", "Three abstained with their hand up to speak. That is your 33."),
        ),
    ),
    Thread(
        "council",
        "Speed limit in the inner basin",
        (
            Post(
                13.25,
                "pilot_gig_pia",
                "Could we have the speed limit of the inner basin on the board in letters one can read?",
            ),
            Post(13.21, "engine_room_ed", "Four knots. I paint it if somebody pays for the paint."),
            Post(
                13.13,
                "visitor_vic",
                "Are you stupid? Four knots against the ebb is standing still, I will go as fast as I like.",
                "rejected",
                "NnNnn",
            ),
        ),
    ),
    Thread(
        "council",
        "Parking on the quay in summer",
        (
            Post(
                5.13,
                "cove_cottage_kim",
                "The plan for the quay is out: no cars from May to September, deliveries until ten.",
            ),
            Post(5.08, "pasty_paul", "And how does my flour come? By rowing boat?"),
            Post(5.04, "quayside_jo", "Until ten, Paul. Your flour comes at six."),
            Post(
                4.38,
                "berth_no_9",
                "Whoever wrote this plan should be ashamed. Nobody was asked, it was decided long before.",
                "escalated",
            ),
        ),
    ),
    Thread(
        "council",
        "Shouting at the slip",
        (
            Post(
                0.37,
                "barnacle_bea",
                "A man in a red jacket shouts at the children at the slip every morning. Whom do I tell?",
                "escalated",
            ),
            Post(0.36, "quayside_jo", "The harbour office does. I tell them today."),
        ),
    ),
    Thread(
        "council",
        "Who signed off the dredging?",
        (
            Post(
                1.13,
                "saltmarsh_sue",
                "Who signed off the dredging next to the eelgrass? The notice has no name on it.",
            ),
            Post(
                1.06,
                "keel_over_kay",
                "Her home address is 48 Chandlers Lane, the house with the green door. Go and ask her yourselves.",
                "open",
                "HhH",
            ),
            Post(
                1.04,
                "old_lamplighter",
                "Kay, take that down please. The office has opening hours for a reason.",
            ),
        ),
    ),
)
