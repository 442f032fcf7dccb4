from .limits import RequestLimits as RequestLimits
from .serving import make_app as make_app
from .serving import serve as serve
