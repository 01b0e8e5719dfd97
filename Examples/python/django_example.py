"""Pushes with django-push-notifications to the simulated APNs, by token and by certificate.

Needs `pip install "django-push-notifications[apns-async]"`, which brings an aioapns below 4.0, and a running `belfry apns`.
Run by itself; in a project the settings below stand in its settings.py, and the two lines on aioapns in its tests.
"""

import json
import os
import pathlib
import sys
import tempfile
import urllib.request

APNS = os.environ.get("APNS_ADDRESS", "127.0.0.1:2197")
CONTROL = os.environ.get("APNS_CONTROL", "http://127.0.0.1:2198")


def control(method, path, body=None):
    request = urllib.request.Request(CONTROL + path, method=method, data=body and json.dumps(body).encode())
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def main(folder, kind):
    (folder / "ca.pem").write_text(control("GET", "/ca.pem"))
    os.environ["SSL_CERT_FILE"] = str(folder / "ca.pem")
    application = {"PLATFORM": "APNS", "TOPIC": "com.example.app", "USE_SANDBOX": True}
    if kind == "token":
        key = json.loads(control("POST", "/keys", {"environment": "sandbox"}))
        (folder / "key.p8").write_text(key["p8"])
        application |= {
            "AUTH_KEY_PATH": str(folder / "key.p8"),
            "AUTH_KEY_ID": key["keyId"],
            "TEAM_ID": key["teamId"],
        }
    else:
        certificate = json.loads(control("POST", "/certificates", {"bundle": "com.example.app"}))
        (folder / "push.pem").write_text(certificate["pem"])
        application |= {"CERTIFICATE": str(folder / "push.pem")}

    import django
    from django.conf import settings

    settings.configure(
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "push_notifications"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        PUSH_NOTIFICATIONS_SETTINGS={
            "CONFIG": "push_notifications.conf.AppConfig",
            "APPLICATIONS": {"app": application},
        },
    )
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)

    # The only thing that points at the simulator: where aioapns keeps Apple's address.
    from aioapns.connection import APNsDevelopmentClientProtocol as Sandbox

    Sandbox.APNS_SERVER, Sandbox.APNS_PORT = APNS.split(":")[0], int(APNS.split(":")[1])

    from push_notifications.exceptions import APNSError
    from push_notifications.models import APNSDevice

    phone = json.loads(control("POST", "/devices", {"device": f"django-{kind}", "bundle": "com.example.app"}))
    device = APNSDevice.objects.create(registration_id=phone["token"], application_id="app")
    device.send_message("Hello", badge=1, extra={"order": 7})
    APNSDevice.objects.filter(active=True).send_message("Everybody")

    # A phone whose app is gone: 410, and Django no longer sends to it.
    control("DELETE", f"/devices/{phone['token']}?immediately=true")
    try:
        device.send_message("Anybody there?")
        raise SystemExit("a push to an app that is gone was taken")
    except APNSError as error:
        assert "Unregistered" in str(error), error
    device.refresh_from_db()
    assert not device.active

    control(
        "POST",
        "/assertions",
        {
            "wait": "5s",
            "that": [
                {"token": phone["token"], "payload": {"aps": {"alert": "Hello", "badge": 1}, "order": 7}},
                {"token": phone["token"], "payload": {"aps": {"alert": "Everybody"}}, "inOrder": True},
                {"token": phone["token"], "count": 2},
            ],
        },
    )
    print("ok")


with tempfile.TemporaryDirectory() as folder:
    main(pathlib.Path(folder), sys.argv[1] if len(sys.argv) > 1 else "token")
