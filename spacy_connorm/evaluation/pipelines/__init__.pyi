from .calibration import Calibrated as Calibrated
from .calibration import calibrate as calibrate
from .evaluation_run import EvaluationReport as EvaluationReport
from .evaluation_run import evaluate as evaluate
from .score_files import read_scores as read_scores
from .score_files import write_markdown as write_markdown
from .score_files import write_mistakes as write_mistakes
from .score_files import write_scores as write_scores
