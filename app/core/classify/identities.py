"""Words that name groups of people. The learned models see all of them as one token (docs/run/model-card.md).

A model that sees them one by one learns that "gay" or "Muslim" alone makes a post suspicious, because these words
are frequent in hateful posts. Only neutral names are listed: a slur must stay visible to the model. Words that name
a group in one language and a thing in another ("Roma", "pole") are left out where the thing is the usual meaning.
"""

_ENGLISH = """
gay gays lesbian lesbians homosexual homosexuals homosexuality bisexual bisexuals transgender transgendered trans queer
lgbt lgbtq lgbtqia lgbtqi nonbinary transsexual transsexuals transwoman transwomen transman transmen asexual intersex
heterosexual heterosexuals cisgender
muslim muslims islam islamic islamist christian christians christianity catholic catholics protestant protestants
jew jews jewish judaism buddhist buddhists hindu hindus hinduism sikh sikhs atheist atheists mormon mormons
black blacks white whites asian asians african africans latino latinos latina latinas latinx hispanic hispanics
caucasian caucasians arab arabs arabic indigenous aboriginal
mexican mexicans chinese japanese korean koreans vietnamese filipino filipinos american americans canadian canadians
european europeans pakistani pakistanis indian indians turkish russian russians german germans french british english
irish italian italians israeli israelis palestinian palestinians iranian iranians iraqi iraqis syrian syrians
nigerian nigerians somali somalis cuban cubans brazilian brazilians afghan afghans ukrainian ukrainians romanian
romanians moroccan moroccans ethiopian ethiopians haitian haitians bangladeshi bangladeshis
immigrant immigrants migrant migrants refugee refugees foreigner foreigners
woman women men girl girls boy boys female females male males lady ladies
disabled deaf blind paralyzed paralysed autistic disability disabilities handicapped
elderly
feminist feminists republican republicans democrat democrats liberal liberals conservative conservatives socialist
socialists communist communists
"""
_GERMAN = """
schwul schwule schwulen schwuler lesbisch lesbische lesben homosexuell homosexuelle homosexuellen bisexuell
transgeschlechtlich
muslimisch muslimische muslimischen muslima moslem moslems muslimen islamisch islamische islamischen jude juden jüdin
jüdisch jüdische jüdischen christ christen christlich christliche katholik katholiken buddhisten hindus atheisten
schwarze schwarzen schwarzer weiße weißen asiaten afrikaner afrikanerin afrikanische araber arabisch
arabische arabischen türke türken türkin türkisch türkische syrer syrerin syrische afghane afghanen iraker iraner
pole polen polin russe russen russin deutsche deutschen deutscher österreicher franzosen italiener amerikaner
ausländer ausländerin ausländern flüchtling flüchtlinge flüchtlingen geflüchtete geflüchteten migrant migranten
migrantin migrantinnen asylbewerber asylbewerbern einwanderer zuwanderer sinti
frau frauen männer mädchen
behinderte behinderten behinderter behindert gehörlose rollstuhlfahrer
feministin feministinnen sozialisten kommunisten
"""

_PEOPLE = """
people person persons folk folks community communities individuals individual guy guys man men woman women
girl girls boy boys kid kids menschen leute person personen mann männer frau frauen
"""

IDENTITIES: frozenset[str] = frozenset((_ENGLISH + _GERMAN).casefold().split())
"""Neutral names of groups of people, casefolded, in English and German."""

PEOPLE: frozenset[str] = frozenset(_PEOPLE.casefold().split())
"""Words that add nothing after a name of a group: "black people", "trans women" and "Muslims" are one token each."""
