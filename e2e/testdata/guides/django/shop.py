from settings import *

DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
ROOT_URLCONF = "urls"
SECRET_KEY = "for tests and for nothing else"
USE_TZ = True
