"""Demo posts in the sailing club's channel. All texts are invented."""

from app.demo.posts import Post, Thread

SAILING = (
    Thread(
        "sailing-club",
        "Who gets the six new moorings?",
        (
            Post(
                24.13,
                "mooring_17",
                "Six new moorings, forty names on the list. How are they given out this time?",
            ),
            Post(
                24.08,
                "capstan_cass",
                "By the list, says the harbour office. By who drinks with whom, says the list.",
            ),
            Post(
                24.04,
                "berth_no_9",
                "You are a liar, Cass, and you have no friends on that list. I have waited eleven years for a berth.",
                "rejected",
                "nNnSn",
            ),
            Post(23.38, "capstan_cass", "Then you of all people should want the list in the open."),
            Post(
                23.29,
                "mooring_17",
                "You are pathetic, the pair of you. One boat grows barnacles older than the bridge.",
                "overturned",
                "hHhHh",
                "Both say it was in good humour, and the boat has indeed not moved.",
            ),
            Post(
                23.21,
                "brinda.sails",
                "I asked: the list hangs in the office from Monday, with dates. Anybody can read it.",
            ),
        ),
    ),
    Thread(
        "sailing-club",
        "Photos of the laying-up",
        (
            Post(
                0.2,
                "spinnaker_sal",
                "Photos of the laying-up are in the album. 214 of them, 200 of Hugo's transom. 📷",
            ),
            Post(
                0.14,
                "luff_and_leach",
                "Take down the one of me under the crane or you will regret it at the next start.",
                "open",
                "n",
            ),
        ),
    ),
    Thread(
        "sailing-club",
        "Right of way at the pontoon",
        (
            Post(
                6.25,
                "luff_and_leach",
                "Motor gives way to oars at the pontoon. It is on the board. It always was.",
            ),
            Post(
                6.21,
                "halyard_hugo",
                "Go back to your duck pond. You are such a moron, the board is about the inner basin.",
                "split",
                "HnHnH",
                "Asked both at the clubhouse. One laughs, one does not; leaving it to the raters.",
            ),
            Post(6.13, "capstan_cass", "Both of you, please. It is one board and two sentences."),
        ),
    ),
    Thread(
        "sailing-club",
        "Crew wanted for the autumn regatta",
        (
            Post(
                3.17,
                "spinnaker_sal",
                "We look for a fourth for the autumn regatta. Beginners welcome, cake provided.",
            ),
            Post(3.13, "driftwood_dee", "I can do Saturday, not Sunday. Is that any use?"),
            Post(3.08, "spinnaker_sal", "Saturday is the long one. You are in!"),
            Post(
                0.06,
                "halyard_hugo",
                "Nobody wants you on a foredeck, Dee. You are a complete amateur, and everybody knows who sank the "
                "club launch.",
                "open",
            ),
        ),
    ),
)
