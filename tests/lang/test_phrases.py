"""What the finder does in languages other than English: endings, gender, order, elision, compounds,
umlauts, and what it must not find.
"""

from functools import cache

import pytest
from finding import make_finder, marked

from spacy_connorm import Concept

PHRASES = {
    "fr": [
        ("Hypotonie axiale", "une [hypotonie axiale], des [hypotonies axiales]"),
        ("Oreilles basses implantées", "des [oreilles bas implantées]"),
        ("Retard de croissance intra-utérin", "[retard de croissance intrautérin]"),
        ("Dyspnée d'effort", "[dyspnee d’effort]"),
        ("Hépatite", "un bilan hépatique, une [hépatite]"),
        ("Parésie oculaire", "un examen oculaire"),
        ("Peau sèche", "la [peau est sèche], la peau est"),
        ("Douleur", "un centre de la douleur, une échelle et une [douleur]"),
        ("Toux", "Elle habite rue de la Toux, Mme Toux a une [toux]"),
        ("Céphalée", "[maux de tête], [mal à la tête], elle lève la tête"),
        ("Épistaxis", "le [nez qui saigne], un [saignement de nez]"),
        ("Hématurie", "du [sang dans les urines]"),
        ("Cancer du sein", "un [néo du sein gauche], [K du sein], K+ 3,2"),
        ("Asthme", "sœur [asthmatique]"),
        ("Alcoolisme", "patient [alcoolique], une solution alcoolique"),
        ("Infarctus du myocarde", "un [infarctus] en 2010, un infarctus splénique"),
        ("Syndrome dépressif", "[Sd dépressif]"),
        ("Hernie de l'aine", "une [hernie inguinale]"),
        ("Fracture du col du fémur", "[fracture du col fémoral]"),
        ("Rhinopharyngite", "une [rhino-pharyngite]"),
        ("Pancréatite aiguë", "une [pancréatite], une pancréatite chronique"),
        ("Hypokaliémie", "une [kaliémie basse], une kaliémie normale"),
        ("Œdème des membres inférieurs", "les [jambes gonflées]"),
        ("Diabète sucré de type 2", "[diabétique de type 2], un [diabète de type 2]"),
    ],
    "es": [
        ("Mano pequeña", "[manos pequeñas]"),
        ("Uña pequeña", "un niño pequeño, [uñas pequeñas]"),
        ("Pie plano", "[pies planos], [pie plano]"),
        ("Dolor de ojo", "[dolor en el ojo]"),
        ("Tos", "una [tos], los dos"),
        ("Nariz ancha", "la [nariz es ancha]"),
        ("Quiste renal", "[quistes de ambos riñones]"),
        ("Dolor", "la Unidad del Dolor, consulta por [dolor]"),
        ("Cefalea", "[dolores de cabeza], [dolor de cabeza]"),
        ("Disnea", "[dificultad para respirar] y [falta de aire]"),
        ("Hematuria", "[sangre en la orina]"),
        ("Otalgia", "[dolor de oídos] y fiebre"),
        ("Diplopía", "[vision doble] desde ayer"),
        ("Hipertensión arterial", "una mujer [hipertensa], es [hipertenso]"),
        ("Diabetes mellitus", "el pie diabético, un paciente [diabético]"),
        ("Ictericia", "un tinte ictérico, está [ictérico]"),
        ("Trastorno bipolar", "un electrodo bipolar, una paciente [bipolar]"),
        ("Mareo", "vive con su marido, tiene [mareos]"),
        ("Gota", "20 gotas al día, una crisis de [gota]"),
        ("Neoplasia maligna de lengua", "[cáncer de lengua], [Ca de lengua]"),
        ("Edema de extremidades inferiores", "[edemas en MMII], [hinchazón de piernas]"),
        ("Infarto de miocardio", "un infarto esplénico, un [infarto]"),
        ("Choque séptico", "un [shock séptico]"),
        ("Enfermedad cardíaca reumática", "una [cardiopatía reumática]"),
    ],
    "de": [
        ("Kopfschmerz", "starke [Kopfschmerzen]"),
        ("Entzündung der Lunge", "beidseitige [Lungenentzündungen]"),
        ("Lungenentzündung", "eine [Lungenentzuendung], [Entzündung der Lunge]"),
        ("Diabetes mellitus Typ 2", "ein [Typ-2-Diabetes], [Diabetes mellitus vom Typ 2]"),
        ("Hörverlust", "ein [Hoerverlust]"),
        ("Kleine Hand", "[kleine Hände]"),
        ("Nierenzyste", "[Zysten in beiden Nieren]"),
        ("Pneumonie", "eine [Lungenentzündung] und keine [Pneumonie]"),
        ("Katarakt", "wegen [grauen Stars] operiert, der [graue Star]"),
        ("Hämaturie", "Er hat [Blut im Urin], aber kein Blut"),
        ("Mikrozephalie", "Ein [kleiner Kopf] fiel auf"),
        ("Rückenschmerz", "[Schmerzen im Rücken], der Rücken"),
        ("Mammakarzinom", "Mutter [Brustkrebs], [Mamma-Ca] links, [Mammacarcinom]"),
        ("Lungenrundherd", "ein [Rundherd in der Lunge], [Lungenrundherde]"),
        ("Pleuraerguss", "mit [Pleuraergüssen] beidseits, kein [Pleuraerguß]"),
        ("Ulcus duodeni", "ein [Ulkus duodeni], [Zwölffingerdarmgeschwür]"),
        ("Appendizitis", "[Appendicitis] und [Blinddarmentzündung]"),
        ("Mitralklappeninsuffizienz", "eine leichte [Mitralinsuffizienz]"),
        ("Harnwegsinfektion", "fieberhafter [Harnwegsinfekt]"),
        ("Adipositas", "Sie ist [adipös]"),
        ("Gonarthrose", "[Kniegelenksarthrose] rechts"),
        ("Hepatitis", "virale [Hepatitiden]"),
    ],
    "nl": [
        ("Hoofdpijn", "heftige [hoofdpijn]"),
        ("Ontsteking van de nier", "dubbelzijdige [nierontsteking]"),
        ("Kleine voet", "[kleine voeten]"),
        ("Grote neus", "de [neus is groot]"),
        ("Diabetes mellitus type 2", "een [type-2-diabetes]"),
        ("Pneumonie", "een [longontsteking], geen [pneumonie]"),
        ("Cataract", "operatie wegens [grauwe staar]"),
        ("Hematurie", "hij heeft [bloed bij de urine], geen bloed"),
        ("Microcefalie", "een [klein hoofd] viel op"),
        ("Mammacarcinoom", "moeder [borstkanker], [mammaca] links"),
        ("Longembolie", "[longembolieën] beiderzijds"),
        ("Splenomegalie", "een [vergrote milt]"),
        ("Ulcus duodeni", "[duodenumulcus] bij scopie"),
        ("Acute appendicitis", "[blindedarmontsteking], [appendicitis]"),
        ("Mitralisklepinsufficiëntie", "lichte [mitralisinsufficiëntie]"),
        ("Anemie", "een [anaemie], [bloedarmoede]"),
        ("Icterus", "patiënt was niet [icterisch]"),
        ("Gonartrose", "[artrose van de knie], [gonarthrose]"),
        ("Reumatoïde artritis", "[rheumatoïde arthritis]"),
        ("Myocardinfarct", "een [hartinfarct], [hartaanval]"),
    ],
    "pt": [
        ("Lesão cutânea", "[lesões cutâneas]"),
        ("Mão pequena", "[mãos pequenas]"),
        ("Filtro longo", "o [filtro é longo]"),
        ("Dor no peito", "[dores no peito], [dor torácica]"),
        ("Pé plano", "[pés planos]"),
        ("Cefaleia", "[dores de cabeça], [dor de cabeca]"),
        ("Dispneia", "[dificuldade para respirar] e [falta de ar]"),
        ("Obstipação", "[prisão de ventre], [intestino preso]"),
        ("Infeção urinária", "uma [infecção urinária]"),
        ("Hipotiroidismo", "um [hipotireoidismo]"),
        ("Parestesia", "uma parada, uma [parestesia]"),
        ("Hipertensão arterial", "um doente [hipertenso]"),
        ("Icterícia", "um tom ictérico, está [ictérico]"),
        ("Neoplasia maligna de laringe", "[cancro de laringe], [câncer de laringe]"),
        ("Fratura do quadril", "uma [fractura da anca]"),
        ("Edema dos membros inferiores", "[edema em MMII], [inchaço nas pernas]"),
        ("Varicela", "teve [catapora]"),
        ("Infarto do miocárdio", "um infarto esplênico, um [enfarte do miocárdio]"),
        ("Hemorragia digestiva alta", "[sangramento digestivo alto]"),
        ("Doença cardíaca reumática", "uma [cardiopatia reumática]"),
    ],
    "it": [
        ("Mano piccola", "[mani piccole]"),
        ("Dolore dell'occhio", "[dolori dell’occhio]"),
        ("Cisti del rene", "[cisti renali]"),
        ("Diabete mellito tipo 2", "[diabete di tipo 2], [diabetica di tipo 2]"),
        ("Cefalea", "[mal di testa], alza la testa"),
        ("Epistassi", "[sangue dal naso]"),
        ("Ematuria", "[sangue nelle urine]"),
        ("Carcinoma della mammella", "[ca mammario], [K mammella], [tumore al seno]"),
        ("Asma", "sorella [asmatica]"),
        ("Alcolismo", "paziente [etilista], nega [potus]"),
        ("Infarto del miocardio", "un [infarto] nel 2010, un infarto splenico"),
        ("Edema degli arti inferiori", "[edema alle gambe], [gambe gonfie]"),
        ("Ulcera da decubito", "[lesioni da decubito] sacrali"),
        ("Pancreatite acuta", "una [pancreatite], una pancreatite cronica"),
        ("Ipotensione", "paziente [ipoteso], ipotesi di"),
        ("Palpitazioni", "riferisce [cardiopalmo]"),
        ("Ipokaliemia", "[ipopotassiemia], [potassio basso]"),
        ("Degenerazione maculare senile", "[maculopatia senile]"),
        ("Dispnea", "[fame d'aria], fame"),
    ],
    "zh": [
        ("头痛", "患者有[头痛]，无发热。"),
        ("2型糖尿病", "诊断为[2型糖尿病]"),
        ("糖尿病", "一位[糖尿病]患者"),
        ("急性淋巴细胞白血病", "[急性淋巴细胞白血病]一例"),
    ],
}


@cache
def finder(code):
    concepts = [Concept(name, name) for name, _ in PHRASES[code]]
    return make_finder(concepts, code=code)


@pytest.mark.parametrize(
    ("code", "names", "text"),
    [
        ("de", ["Kopfschmerz", "Bauchschmerz"], "Er hat [Kopf- und Bauchschmerzen]."),
        ("de", ["Nierenstein", "Nierenzyste"], "[Nierensteine und -zysten], keine Stauung"),
        ("de", ["Bauchschmerz"], "Kopf- und [Bauchschmerzen]"),
        ("nl", ["Hoofdpijn", "Buikpijn"], "klachten van [hoofd- en buikpijn]"),
    ],
)
def test_a_hyphen_stands_for_the_part_that_words_share(code, names, text):
    nlp = make_finder([Concept(name, name) for name in names], code=code)
    assert marked(nlp, text) == text
    (ent,) = nlp(text.replace("[", "").replace("]", "")).ents
    assert ent.kb_id_.split("|") == names


@pytest.mark.parametrize(
    ("code", "name", "text"), [(code, *row) for code, rows in PHRASES.items() for row in rows]
)
def test_a_phrase_has_the_words_of_a_name(code, name, text):
    assert marked(finder(code), text) == text
    found = {ent.kb_id_ for ent in finder(code)(text.replace("[", "").replace("]", "")).ents}
    assert found <= {other for other, _ in PHRASES[code]}
