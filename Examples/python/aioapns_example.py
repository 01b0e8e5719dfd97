"""Pushes with aioapns to the simulated APNs, then asks it whether what came is what was meant.

Needs `pip install aioapns` and a running `belfry apns`.
"""

import asyncio
import json
import os
import ssl
import urllib.request

from aioapns import APNs, NotificationRequest, PushType

APNS = os.environ.get("APNS_ADDRESS", "127.0.0.1:2197")
CONTROL = os.environ.get("APNS_CONTROL", "http://127.0.0.1:2198")


def control(method, path, body=None):
    request = urllib.request.Request(CONTROL + path, method=method, data=body and json.dumps(body).encode())
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


async def main():
    device = json.loads(control("POST", "/devices", {"device": "aioapns-phone", "bundle": "com.example.app"}))
    key = json.loads(control("POST", "/keys", {"environment": "sandbox"}))
    apns = APNs(
        key=key["p8"],
        key_id=key["keyId"],
        team_id=key["teamId"],
        topic=device["topic"],
        use_sandbox=True,
        ssl_context=ssl.create_default_context(cadata=control("GET", "/ca.pem")),
    )
    # aioapns keeps Apple's address here; nothing else has to change.
    server = apns.pool.protocol_class
    server.APNS_SERVER, server.APNS_PORT = APNS.split(":")[0], int(APNS.split(":")[1])

    answer = await apns.send_notification(
        NotificationRequest(
            device_token=device["token"], message={"aps": {"alert": "Hello"}}, push_type=PushType.ALERT
        )
    )
    assert answer.is_successful, answer.description

    # 422, and so an exception, when something is not as expected: the answer's body says where.
    control(
        "POST",
        "/assertions",
        {
            "wait": "5s",
            "that": [
                {"token": device["token"], "id": answer.notification_id, "payload": {"aps": {"alert": "Hello"}}},
                {"token": device["token"], "findings": "error", "count": 0},
            ],
        },
    )
    print("ok")


asyncio.run(main())
