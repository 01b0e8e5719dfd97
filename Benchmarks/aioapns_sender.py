"""Sends pushes with aioapns, as its README does it for many: folder, port, count. Prints seconds and accepted."""

import asyncio
import itertools
import json
import logging
import ssl
import sys
import time
import uuid

from aioapns import APNs, NotificationRequest, PushType


async def main(folder, port, count):
    with open(f"{folder}/tokens") as file:
        tokens = file.read().split()
    with open(f"{folder}/credential.json") as file:
        credential = json.load(file)
    with open(f"{folder}/key.p8") as file:
        key = file.read()
    apns = APNs(
        key=key, key_id=credential["keyId"], team_id=credential["teamId"], topic=credential["bundle"],
        use_sandbox=True, max_connections=1, ssl_context=ssl.create_default_context(cafile=f"{folder}/ca.pem"))
    server = apns.pool.protocol_class
    server.APNS_SERVER, server.APNS_PORT = "127.0.0.1", port
    accepted = 0

    async def send(number):
        nonlocal accepted
        request = NotificationRequest(
            device_token=tokens[number % len(tokens)], notification_id=str(uuid.uuid4()), push_type=PushType.ALERT,
            priority=10,
            message={
                "aps": {
                    "alert": {
                        "title": "Order shipped", "body": "Your parcel 4711 is on its way and comes tomorrow."},
                    "badge": 10 + number % 90, "sound": "default", "thread-id": "orders"},
                "_j_msgid": 200000000000000000 + number})
        result = await apns.send_notification(request)
        accepted += result.is_successful

    await send(0)  # connects
    numbers = iter(range(1, count))
    start = time.monotonic()

    async def worker():
        for number in numbers:
            await send(number)

    await asyncio.gather(*itertools.starmap(worker, [()] * 200))
    print(json.dumps({"seconds": time.monotonic() - start, "accepted": accepted}))


logging.disable()
asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
