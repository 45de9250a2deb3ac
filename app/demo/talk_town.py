"""Demo posts about events, newcomers, and lost and found. All texts are invented."""

from app.demo.posts import Post, Thread

_EVENTS = (
    Thread(
        "events",
        "Harbour fair: helpers",
        (
            Post(
                15.17,
                "quayside_jo",
                "The fair needs helpers: four for the gate, six for tables on Sunday night, and one who can start the "
                "old generator.\n\nLists hang at the kiosk and in the clubhouse. Whoever helps eats for free.",
            ),
            Post(15.13, "engine_room_ed", "The generator is mine. It starts for nobody else, out of spite."),
            Post(
                15,
                "visitor_vic",
                "Anyone up for a hookup after the fair? I am on the white yacht at the visitors' pontoon.",
                "applied",
                "HhHsH",
            ),
        ),
    ),
    Thread(
        "events",
        "Film night in the boat shed",
        (
            Post(
                4.17,
                "chandlers_cat",
                "Film night in the boat shed on Saturday: an old one about a lighthouse. Bring a blanket.",
            ),
            Post(4.13, "old_lamplighter", "I was an extra in that. Third oilskin from the left."),
        ),
    ),
    Thread(
        "events",
        "Regatta dinner",
        (
            Post(0.62, "luff_and_leach", "Regatta dinner: fish or beans, tell me by Wednesday."),
            Post(0.6, "rowing_rik", "Beans for the whole gig crew, seven in all."),
            Post(
                0.22,
                "visitor_vic",
                "Not hungry, but anyone up for a hookup tonight? Cabin for two, door is open.",
                "open",
                "h",
            ),
        ),
    ),
)

_NEWCOMERS = (
    Thread(
        "newcomers",
        "Hello from number twelve",
        (
            Post(
                27.17,
                "new_in_town_nico",
                "Hello! We moved into number twelve above the net loft. Which bakery, which doctor, which boat?",
            ),
            Post(
                27.13,
                "quayside_jo",
                "Welcome! Hanna's bakery, Dr. Brandt upstairs from it, and no boat in the first year.",
            ),
            Post(27.08, "pasty_paul", "First coffee at the kiosk is free for newcomers. The second is not."),
        ),
    ),
    Thread(
        "newcomers",
        "How do I tie up for an hour?",
        (
            Post(16.13, "barnacle_bea", "Where can I tie up for an hour without anybody getting angry?"),
            Post(
                16.11,
                "mooring_17",
                "You are a clown with a rope. Berth 17 has a sign, learn to read before you buy a boat.",
                "dismissed",
                "nN",
                "Rough, but it is about the knot and not the person. Spoke to him.",
            ),
            Post(
                16.04,
                "pilot_gig_pia",
                "Visitors' pontoon, north side, two hours free. And ignore 17, he barks.",
            ),
        ),
    ),
    Thread(
        "newcomers",
        "A hard winter",
        (
            Post(
                3.38,
                "barnacle_bea",
                "First winter alone up here and the evenings are long. Some nights I think they would be better off "
                "without me.",
                "open",
                "H",
            ),
            Post(
                3.36,
                "quayside_jo",
                "Bea, I sent you a message. Soup at ours tonight, and no is not an answer.",
            ),
            Post(3.34, "harbour_choir", "And Tuesdays there are thirty of us. You do not have to sing."),
        ),
    ),
)

_LOST = (
    Thread(
        "lost-and-found",
        "Tabby cat, chandler's lane",
        (
            Post(
                22.17,
                "chandlers_cat",
                "Our tabby is missing since Sunday. Answers to Bosun, or to nothing. 🐈",
            ),
            Post(
                22.13,
                "cove_cottage_kim",
                "A tabby sleeps in our shed. Call me when you are back, my mobile number is 202-555-0146.",
                "overturned",
                "hHhHs",
                "Her own number, and she wants to be called.",
            ),
            Post(22.04, "chandlers_cat", "It is Bosun! He came home fatter than he left. Thank you, Kim."),
        ),
    ),
    Thread(
        "lost-and-found",
        "Rucksack on the 11:40",
        (
            Post(
                7.13,
                "visitor_vic",
                "I left a grey rucksack on the 11:40 on Saturday. Keys and a child's drawing in it.",
            ),
            Post(
                7.08, "ferry_fred", "It sits in the cabin with a life jacket on. Come any morning.", "failed"
            ),
        ),
    ),
    Thread(
        "lost-and-found",
        "Wallet at the fuel berth",
        (
            Post(
                0.95, "rowing_rik", "Brown wallet on the bench at the fuel berth, soaked. Who is missing one?"
            ),
            Post(
                0.93,
                "barnacle_bea",
                "I have it, it is drying on my stove. Card 5555 5555 5555 4444, is that anybody's?",
                "open",
                "hHn",
            ),
            Post(
                0.91,
                "visitor_vic",
                "That could be mine! Call me back, my mobile number is 202-555-0187.",
                "taken back",
                "HhHsH",
                "His own number, in a thread about his own wallet.",
            ),
            Post(
                0.9,
                "engine_room_ed",
                "Bea, please take the number out. The harbour office keeps found wallets.",
            ),
        ),
    ),
)

TOWN = (*_EVENTS, *_NEWCOMERS, *_LOST)
