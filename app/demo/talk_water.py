"""Demo posts about the ferry, the tides and fishing. All texts are invented."""

from app.demo.posts import MemberNote, Post, Thread

_FERRY = (
    Thread(
        "ferry-and-tides",
        "Does the ferry run on Sundays in winter?",
        (
            Post(
                41.08,
                "visitor_vic",
                "Does the ferry run on Sundays in winter? We want to bring the children over.",
            ),
            Post(
                41.04,
                "ferry_fred",
                "Mornings only, 9:15 and 11:40, and only when the wind allows it. Trust the board at the slip, not the "
                "leaflet.",
            ),
            Post(40.38, "visitor_vic", "Thank you! Then we take the 9:15 and hope. ⛴️"),
        ),
    ),
    Thread(
        "ferry-and-tides",
        "Fog horn at four in the morning",
        (
            Post(33.17, "cove_cottage_kim", "Was that the fog horn at four this morning, or did I dream it?"),
            Post(
                33.13,
                "old_lamplighter",
                "The horn. The automatic one on the mole sticks when it is damp. I wrote to them.",
            ),
            Post(
                33.1,
                "berth_no_9",
                "Defend that horn once more and I will kill you, old man, lamp or no lamp.",
                "dismissed",
                "nH",
                "Banter between two old friends; nobody feels threatened.",
            ),
            Post(
                33.04,
                "old_lamplighter",
                "Same time next year then. I bring the earplugs, you bring the cake.",
            ),
        ),
    ),
    Thread(
        "ferry-and-tides",
        "Spring tide on Thursday",
        (
            Post(
                12.13,
                "tide_table_tom",
                "Spring tide on Thursday, 6.1 m at 7:42. Whoever parks on the hard: be gone by half past six, please.",
            ),
            Post(12.11, "cove_cottage_kim", "Will it reach the cellar steps of the old custom house again?"),
            Post(12.08, "tide_table_tom", "With this wind, nearly. I would carry the bicycles up."),
            Post(
                12.06,
                "halyard_hugo",
                "You really are a nitwit, Tom, the table says 7:24, not 7:42. Reading glasses!",
                "rejected",
                "NnNnN",
            ),
            Post(
                12.04,
                "tide_table_tom",
                "He is right, 7:24. My glasses were on the boat, and the coffee is on me.",
            ),
        ),
    ),
    Thread(
        "ferry-and-tides",
        "Who made the October storm?",
        (
            Post(
                9.21,
                "berth_no_9",
                "Cloud seeding caused the October storm. My cousin saw the planes from the breakwater.",
                "applied",
                "HhHhH",
                notes=(
                    MemberNote(
                        "",
                        "The weather service followed this storm for five days on its way across the sea. The plane "
                        "that day was the coastguard's, looking for a kayak.",
                        "HhHsh",
                        sources=("https://weather.example.org/october-storm",),
                    ),
                ),
            ),
            Post(
                9.17,
                "gull_watcher",
                "What your cousin saw was the coastguard, looking for the kayak from Sandholm.",
            ),
        ),
    ),
    Thread(
        "ferry-and-tides",
        "The new mast on the breakwater",
        (
            Post(
                2.26,
                "keel_over_kay",
                "The 5G mast makes the gulls sick. Two dead ones on the breakwater this week alone.",
                "checked",
                "Hn",
                notes=(
                    MemberNote(
                        "gull_watcher",
                        "The harbour vet looked at both gulls: fishing line in the stomach. The mast is not "
                        "switched on before spring.",
                        "Hs",
                        sources=("https://harbour-office.example.org/mast",),
                    ),
                ),
            ),
            Post(2.21, "engine_room_ed", "It is not even connected yet. I pulled the conduit myself."),
        ),
    ),
    Thread(
        "ferry-and-tides",
        "Is the 17:30 running today?",
        (
            Post(
                0.31,
                "new_in_town_nico",
                "Is the 17:30 running today? The app says yes, the flag at the slip says no.",
            ),
            Post(0.3, "ferry_fred", "Believe the flag. Swell across the bar, next one is 19:10 if it drops."),
        ),
    ),
)

_FISHING = (
    Thread(
        "fishing",
        "Mackerel are in",
        (
            Post(
                38.25,
                "lobster_lou",
                "Mackerel off the outer mole since yesterday, feathers work, small spoons better.",
            ),
            Post(
                38.21,
                "driftwood_dee",
                "Four before breakfast with my daughter. She wants a smoker for her birthday now.",
            ),
        ),
    ),
    Thread(
        "fishing",
        "Pots without tags",
        (
            Post(
                29.21,
                "netmender",
                "There are six pots without tags off the west bank. They are in the channel.",
            ),
            Post(
                29.17,
                "lobster_lou",
                "Are you stupid or just pretending? Those are mine and the tags are on the inside, as they have to be.",
                "applied",
                "HhHsH",
            ),
            Post(
                29.08,
                "netmender",
                "Inside is fine. In the channel is not, and I nearly had one in the screw.",
            ),
            Post(28.38, "lobster_lou", "Moved them this morning. That was no way to talk to you, sorry."),
        ),
    ),
    Thread(
        "fishing",
        "Somebody cuts my lines",
        (
            Post(
                17.13,
                "lobster_lou",
                "Third time this month. Cut my lines again and I will break your arms, whoever you are.",
                "forced",
                "Hn",
                "A threat, also when it is meant for nobody in particular.",
            ),
            Post(
                17.08,
                "pilot_gig_pia",
                "Could it be the ferry's screw? The cuts on ours looked the same last year.",
            ),
        ),
    ),
    Thread(
        "fishing",
        "Seasickness: what helps you?",
        (
            Post(8.13, "new_in_town_nico", "Booked my first trip out. What helps you against seasickness?"),
            Post(8.08, "spinnaker_sal", "Look at the horizon, stay on deck, dry biscuits. And do not read."),
            Post(
                8.04,
                "saltmarsh_sue",
                "Forget pills. Lemon water with baking soda cures arthritis, seasickness and half of the rest, my aunt "
                "swears by it.",
                "applied",
                "hHhHh",
                notes=(
                    MemberNote(
                        "chandlers_cat",
                        "Neither of the two helps against arthritis; the health office has a page on what does. "
                        "Against seasickness ginger has at least been tried.",
                        "hHhHs",
                        sources=("https://health-office.example.org/joints",),
                    ),
                ),
            ),
        ),
    ),
    Thread(
        "fishing",
        "Stiff hands in the morning",
        (
            Post(
                0.75,
                "netmender",
                "Stiff hands every morning since the nets got heavier. What do you do about it?",
            ),
            Post(
                0.72,
                "keel_over_kay",
                "Do not pay for a doctor: garlic and ginger cured my arthritis, share this before they delete it.",
                "open",
                "Hns",
                notes=(
                    MemberNote(
                        "",
                        "A clinic's list of what was tried for arthritis names neither. Nobody deletes anything here "
                        "for being about garlic.",
                        "H",
                        sources=("https://health-office.example.org/joints",),
                    ),
                ),
            ),
            Post(0.7, "engine_room_ed", "Axle grease and gloves, Netmender. And do see somebody about it."),
        ),
    ),
    Thread(
        "fishing",
        "Net loft key",
        (
            Post(
                1.38, "netmender", "Who has the second key of the net loft? The hook is empty since Saturday."
            ),
            Post(1.34, "rowing_rik", "Me, sorry! It is in the blue tin at the gig shed from tonight."),
            Post(
                1.3,
                "mooring_17",
                "Typical. Take my key one more time without asking and you will regret it.",
                "claimed",
                "nH",
            ),
        ),
    ),
)

WATER = (*_FERRY, *_FISHING)
