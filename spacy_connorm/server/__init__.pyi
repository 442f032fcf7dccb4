from .limits import RequestLimits as RequestLimits
from .review import MappingReview as MappingReview
from .serving import make_app as make_app
from .serving import serve as serve
