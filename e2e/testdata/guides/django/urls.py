import random

from django.core.mail import send_mail
from django.http import HttpResponse
from django.urls import path

codes = {}


def signup(request):
    email = request.POST["email"]
    codes[email] = str(random.randint(100000, 999999))
    send_mail("Confirm your address", f"Your confirmation code is {codes[email]}.", "shop@example.com", [email])
    return HttpResponse()


def confirm(request):
    return HttpResponse(status=200 if codes[request.POST["email"]] == request.POST["code"] else 403)


urlpatterns = [path("signup", signup), path("confirm", confirm)]
