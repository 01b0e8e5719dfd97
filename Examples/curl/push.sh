#!/usr/bin/env bash
# Pushes with curl, the provider token signed as Apple's own shell recipe does it (a DER signature), and asserts.
# Needs curl with HTTP/2, openssl, and a running `belfry apns`.
set -euo pipefail
apns=${APNS_ADDRESS:-127.0.0.1:2197}
control=${APNS_CONTROL:-http://127.0.0.1:2198}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The value of one field of a flat JSON object.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
base64url() { openssl base64 -e -A | tr -- '+/' '-_' | tr -d =; }

curl -sf "$control/ca.pem" -o "$folder/ca.pem"
key=$(curl -sf "$control/keys" -d '{"environment":"sandbox"}')
key_id=$(field keyId <<<"$key")
team_id=$(field teamId <<<"$key")
printf '%b' "$(field p8 <<<"$key")" >"$folder/key.p8"
token=$(curl -sf "$control/devices" -d '{"device":"curl-phone","bundle":"com.example.app"}' | field token)

# Apple, "Sending push notifications using command-line tools".
header=$(printf '{ "alg": "ES256", "kid": "%s" }' "$key_id" | base64url)
claims=$(printf '{ "iss": "%s", "iat": %d }' "$team_id" "$(date +%s)" | base64url)
signature=$(printf %s "$header.$claims" | openssl dgst -binary -sha256 -sign "$folder/key.p8" | base64url)
curl -sSf --http2 --cacert "$folder/ca.pem" \
  --header "apns-topic: com.example.app" --header "apns-push-type: alert" \
  --header "authorization: bearer $header.$claims.$signature" \
  --data '{"aps":{"alert":"Hello"}}' "https://$apns/3/device/$token"

# Ends with an error, and so does this script, when something is not as expected.
curl -sS --fail-with-body "$control/assertions?format=junit" -o "${JUNIT:-/dev/null}" -d '{
  "suite": "curl", "wait": "5s",
  "that": [
    {"token": "'"$token"'", "payload": {"aps": {"alert": "Hello"}}, "match": "exact", "count": 1},
    {"token": "'"$token"'", "findings": "error", "count": 0}
  ]}'
echo ok
