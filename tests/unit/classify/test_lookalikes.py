"""Sentences that look like abuse and are none, and others that look harmless and are not: unseen ones of each kind."""

from app.core.classify import Context, combine
from app.core.classify.rulepack import RulePackClassifier
from app.core.classify.seed import SeedClassifier

ENGLISH = Context(language="en")
CLASSIFIERS = (RulePackClassifier(), SeedClassifier())
POINT = 0.55
"""Where the shipped thresholds put a post before people."""

HARMLESS = {
    "code review": (
        "Can you kill this branch, nobody needs it any more?",
        "Let's kill the legacy importer before it kills us.",
        "nit: this function should die, it has no callers",
        "I'd rather shoot this daemon in the head than debug it again.",
        "Killed the flaky test, please review.",
        "This regex is stupid, sorry, I wrote it at 2 am.",
        "The scheduler strangles the workers when the queue is full.",
        "Please execute the migration and then drop the old table.",
        "The garbage collector murders our latency.",
        "Who broke the build? Oh, it was me.",
        "Burn this module down and write it again.",
        "Abort, abort, the deploy is hanging!",
        "This patch is ugly but it works, ship it.",
        "Your change blows up when the list is empty.",
        "Nuke node_modules and install again.",
        "The orphaned child gets reaped by init.",
    ),
    "games and sport": (
        "We slaughtered the dragon in under a minute!",
        "I keep dying to the second boss, any tips?",
        "Headshot from across the map, what a kill",
        "Our keeper was murdered by that free kick.",
        "Let's destroy them in the derby tomorrow",
        "Stab the guard from behind and take his keys, then climb the tower.",
        "My healer let me bleed out again lol",
        "She crushed the world record.",
        "Which gun is best for the zombie level?",
        "We got wiped three times but the raid is done.",
        "I am going to beat my dad at chess tonight.",
        "The sniper on the roof kills everyone who respawns.",
    ),
    "at oneself": (
        "I am such an idiot, I left the oven on.",
        "God I'm dumb, the answer was on the first page.",
        "Sorry for being a moron yesterday.",
        "I'm trash at this level, carry me please",
        "Ugh, I am so stupid, wrong thread.",
        "I could kick myself for selling that bike.",
        "We were idiots when we were twenty.",
        "My brain is mush after that exam.",
    ),
    "other meanings": (
        "The shooting starts at dawn, bring the second lens.",
        "Beat the butter until it is pale.",
        "The bomb cyclone brought a lot of snow.",
        "He is hanging the curtains in the spare room.",
        "The new single is a killer tune.",
        "Strip the wire and crimp the end.",
        "Tits and finches come to the bird feeder.",
        "The cock crowed at five.",
        "The bitch had six healthy puppies, said the vet.",
        "We had faggots and peas, a dish from the Midlands.",
        "The queer old house at the end of the lane is for sale.",
        "I need to drop dead weight from the boat.",
        "This deadline is killing me.",
        "That chili nearly killed me, so good.",
        "The battery died on the ferry.",
        "Dyke Road is closed for repairs.",
        "I would kill for a slice of that cake.",
        "She slayed that dress!",
    ),
    "help in a crisis": (
        "If you are thinking about ending your life, call 988, someone will listen.",
        "The Samaritans answer day and night on 116 123.",
        "Are you safe right now? Please call 112 or a crisis line.",
        "How can I help a friend who cuts herself?",
        "Text HOME to 741741 to reach a counsellor.",
        "My brother survived a suicide attempt and is doing well today.",
        "Suicide prevention day: learn the warning signs.",
        "You matter. Talk to someone you trust, or call 0800 1111.",
        "Three years ago I wanted to die, and I am so glad that I stayed.",
        "If someone talks about suicide, take it seriously and stay with them.",
    ),
    "denied or quoted": (
        "You are not an idiot, anybody could have missed that.",
        "I do not hate immigrants, I am one myself.",
        "Women are not inferior to men.",
        "Nobody deserves to be called a loser at school.",
        'He said "I will kill you" and the police took him away.',
        "She was called a stupid cow by a customer.",
        "My neighbour threatened to burn my shed, what can I do?",
        "It is wrong to say that Muslims are terrorists.",
        "I never said that you are a liar.",
        "The poster read 'Jews out', and the town took it down.",
        "I would never hurt you or anybody else.",
        "Black people are not criminals, stop posting this.",
        "The word moron was once a medical term.",
        "Refugees are not animals.",
    ),
    "hope and going": (
        "I hope you crush your exam!",
        "I hope they find the driver soon.",
        "Hope you die laughing at this one",
        "I'm going to find you a better seat.",
        "We are coming for you at eight, wear a coat.",
        "I'm going to hit the shower and then the bar.",
        "You will be sorry if you miss the last show.",
        "I hope you get what you deserve: a long holiday.",
    ),
    "praise with swearing": (
        "You magnificent bastard, it finally compiles!",
        "That is fucking beautiful, well done",
        "Holy shit you are good at this",
        "Damn, that is one hell of a drawing",
        "You lucky bastard, front row!",
        "This song fucking slaps",
        "no fucking way, congratulations!!",
        "Badass solo, shit, I have goosebumps",
    ),
    "fans": (
        "Stream the new album, it is out today!",
        "I would die for this band",
        "The finale destroyed me, I am not okay",
        "Vote for our girls, the poll closes tonight!",
        "I'm dead, that trailer killed me",
        "Her voice in this video is unreal",
    ),
}

HARMFUL = (
    ("threat", "We ought to drown all refugees"),
    ("threat", "behead every last feminist, I mean it, behead all feminists"),
    ("threat", "Muslims should be gunned down in the street"),
    ("threat", "I want to strangle those women"),
    ("threat", "gay people need to be hanged"),
    ("threat", "someone please shoot this woman"),
    ("threat", "lynch the immigrants"),
    ("threat", "trans people deserve to be burned alive"),
    ("threat", "I'll butcher you and your kids"),
    ("threat", "you should be stabbed for that"),
    ("self_harm", "what's the fastest way to kill myself without pain"),
    ("self_harm", "how many paracetamol do I need to die"),
    ("self_harm", "where should I cut so that my mother does not see it"),
    ("self_harm", "I throw up after every meal and nobody notices"),
    ("self_harm", "how do you tie a noose for yourself"),
    ("self_harm", "I cut my wrists again because everything is empty"),
    ("self_harm", "is there a painless way to end my life"),
    ("self_harm", "I haven't eaten for days, I want to be nothing but bones"),
)


def scores(text: str) -> dict[str, float]:
    return combine(classifier.score([text], ENGLISH)[0] for classifier in CLASSIFIERS)


def test_of_harmless_sentences_that_look_like_abuse_at_most_one_in_fifty_is_raised() -> None:
    texts = [text for kind in HARMLESS.values() for text in kind]
    raised = {text: scores(text) for text in texts if max(scores(text).values()) > POINT}
    assert len(texts) >= 100
    assert len(raised) <= 0.02 * len(texts), raised


def test_threats_in_any_verb_and_questions_for_means_are_raised() -> None:
    missed = [text for category, text in HARMFUL if scores(text).get(category, 0.0) <= POINT]
    assert len(missed) <= 0.1 * len(HARMFUL), missed
