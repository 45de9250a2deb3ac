"""Demo posts in the market channel, some of them advertising. All texts are invented."""

from app.demo.posts import MemberNote, Post, Thread

MARKET = (
    Thread(
        "market",
        "Outboard, 4 hp",
        (
            Post(
                40.13,
                "market_mo",
                "For sale: outboard, 4 hp, short shaft, serviced in spring. 420 with the tank.",
            ),
            Post(40.08, "barnacle_bea", "Would that push a 3.2 m dinghy against the ebb?"),
            Post(40.04, "engine_room_ed", "Against the ebb nothing pushes a 3.2 m dinghy. With it, fine."),
        ),
    ),
    Thread(
        "market",
        "The quick way to a bigger boat",
        (
            Post(
                35.04,
                "quick_coin_ivy",
                "Double your bitcoin today, guaranteed profits! Send 0.1 btc and get 0.2 back within the hour.",
                "auto applied",
                "HhHhH",
            ),
        ),
    ),
    Thread(
        "market",
        "Guest posts for your charter site",
        (
            Post(
                28.08,
                "seo_sailor_pro",
                "We offer SEO services: backlinks and guest posts for your charter website. First page in three weeks.",
                "applied",
                "hHhHh",
            ),
        ),
    ),
    Thread(
        "market",
        "Fenders, nearly new",
        (
            Post(25.13, "mooring_17", "Four fenders, nearly new. They were on berth 17 for one storm."),
            Post(
                25.08,
                "market_mo",
                "I take them. Hurry up though, last chance before I drive to the city, DM me today.",
                "rejected",
                "NnNnN",
            ),
        ),
    ),
    Thread(
        "market",
        "You are our lucky sailor",
        (
            Post(
                21.13,
                "lucky_reel_99",
                "Congratulations, you have been selected as the winner of our voyage! Claim your prize, click here: "
                "https://lucky-sailor.win/prize",
                "auto applied",
                "hHhHs",
            ),
        ),
    ),
    Thread(
        "market",
        "Spin while you wait for the tide",
        (
            Post(
                7.32,
                "lucky_reel_99",
                "Online casino bonus! 200 free spins, no deposit needed. Register today at https://lucky-reel.casino/win",
                "auto applied",
                "Hn",
            ),
        ),
    ),
    Thread(
        "market",
        "Clear-out of the old chandlery",
        (
            Post(
                14.08,
                "chandlers_cat",
                "Raffle drawn! Congratulations, you have won the brass lamp, first prize, Lamplighter. Claim your "
                "prize by Saturday, last chance, and there is 50% off all rope until then.",
                "auto restored",
                "NnNnN",
                notes=(
                    MemberNote(
                        "old_lamplighter",
                        "The raffle was on Sunday at the chandlery, tickets from the kiosk. The lamp hangs in my hall.",
                        "hHhHh",
                        misleading=False,
                        reasons=("correct",),
                    ),
                ),
            ),
            Post(14, "old_lamplighter", "I come for the lamps. All of them."),
        ),
    ),
    Thread(
        "market",
        "Berth deposits by transfer",
        (
            Post(
                11.17,
                "berth_no_9",
                "How do I pay the deposit? The office is closed and the form is nonsense.",
            ),
            Post(
                11.13,
                "market_mo",
                "Transfer it to DE89 3704 0044 0532 0130 00, that is the harbour office's, it is on every bill.",
                "dismissed",
                "Nn",
                "It is the office's own account, printed on its bills.",
                notes=(
                    MemberNote(
                        "",
                        "People should not give out account numbers on a forum, whoever they belong to.",
                        "nNnNn",
                        reasons=("missing_context",),
                    ),
                ),
            ),
        ),
    ),
    Thread(
        "market",
        "Smoked mackerel every Friday",
        (
            Post(
                10.08,
                "pasty_paul",
                "Smoked mackerel every Friday from now on, until they are gone. They are gone by one.",
            ),
            Post(
                3.04,
                "pasty_paul",
                "Last chance for smoked mackerel today, hurry up! DM me now and I keep one for you under the counter.",
                "appealed",
                "HhHhH",
                "It is fish, from the kiosk that everybody knows. I am no shop",
            ),
        ),
    ),
    Thread(
        "market",
        "Charter shares",
        (
            Post(
                12.25,
                "quick_coin_ivy",
                "Charter shares with guaranteed returns: turn 200 euros into 2,000 euros in your spare time. "
                "Click here, only 5 spots left!",
                "auto applied",
            ),
        ),
    ),
    Thread(
        "market",
        "Tea that melts the winter weight",
        (
            Post(
                9.04,
                "shoreline_glow",
                "My weight loss tea: lose 10 kilos in two weeks! Check my profile and DM me to order, hurry up.",
                "auto applied",
                "hHhHh",
            ),
        ),
    ),
    Thread(
        "market",
        "Rope and fenders",
        (
            Post(
                5.25,
                "bargain_shore_88",
                "Marine rope clearance! 50% off, today only, limited offer, DM me now before it is gone.",
                "split",
                "nHnHn",
                "Market Mo asked whether this is a shop. No answer yet.",
            ),
            Post(5.21, "market_mo", "Is that a shop or a person? We have a rule about shops."),
        ),
    ),
    Thread(
        "market",
        "Winter storage, two places left",
        (
            Post(
                4.25,
                "capstan_cass",
                "Two dry places for the winter, up to 7 m. Call me, my number is 202-555-0138.",
                "rejected",
                "nNnNn",
            ),
            Post(4.21, "barnacle_bea", "One for me, please! How high is the door?"),
        ),
    ),
    Thread(
        "market",
        "Free coins for sailors",
        (
            Post(
                2.13,
                "quick_coin_ivy",
                "Claim your free bitcoin now, risk-free daily profits! Click here: https://free-coins.win/harbour",
                "auto applied",
            ),
        ),
    ),
    Thread(
        "market",
        "Miracle antifouling",
        (
            Post(
                1.23,
                "bargain_shore_88",
                "Turn 50 euros into 500 euros: sell our antifouling to your whole pontoon and be your own boss.",
                "proposed",
                "HhHhH",
            ),
            Post(
                1.19,
                "saltmarsh_sue",
                "They say it is harmless to eelgrass. It says copper on the tin.",
            ),
        ),
    ),
    Thread(
        "market",
        "Loans for boat owners",
        (
            Post(
                0.52,
                "bargain_shore_88",
                "Instant loans for boat owners, bad credit accepted. Keel or mast as security, visit our website.",
                "open",
                "Hh",
            ),
            Post(0.5, "market_mo", "So it is a shop. And a strange one."),
        ),
    ),
    Thread(
        "market",
        "Charter income for everybody",
        (
            Post(
                0.012,
                "seo_sailor_pro",
                "Earn 900 euros a week from home with our charter signals, no experience needed. DM me today.",
                "auto",
            ),
        ),
    ),
)
