extension OpenAPIDocument {
  static let pushes = #"""
    {
      "paths": {
        "/v1/pushes": {
          "get": {
            "operationId": "listPushes",
            "tags": ["pushes"],
            "summary": "Pushes, the newest first",
            "parameters": [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/cursor"}],
            "responses": {"200": \#(page("pushes", of: "PushSummary"))}
          },
          "post": {
            "operationId": "sendPush",
            "tags": ["pushes"],
            "summary": "Sends a push",
            "description": "Answered when it is durable. 409 when another request came under the same key.",
            "parameters": [{"$ref": "#/components/parameters/idempotencyKey"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PushDraft"}}}
            },
            "responses": {
              "200": {
                "description": "The push that the same key made before.",
                "headers": {"Location": {"$ref": "#/components/headers/Location"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PushReceipt"}}}
              },
              "201": {
                "description": "It is on its way.",
                "headers": {"Location": {"$ref": "#/components/headers/Location"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PushReceipt"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        },
        "/v1/pushes/preview": {
          "post": {
            "operationId": "previewPush",
            "tags": ["pushes"],
            "summary": "Checks a push, and tells whom it would reach",
            "description": "Nothing is kept or sent.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PushDraft"}}}
            },
            "responses": {
              "200": {
                "description": "What it would be.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PushPreview"}}}
              }
            }
          }
        },
        "/v1/pushes/{id}": {
          "parameters": [{"$ref": "#/components/parameters/pushID"}],
          "get": {
            "operationId": "showPush",
            "tags": ["pushes"],
            "summary": "A push's state and counts, by hour and by app version too",
            "responses": {
              "200": {
                "description": "The push.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Push"}}}
              }
            }
          }
        },
        "/v1/pushes/{id}/pause": {
          "parameters": [{"$ref": "#/components/parameters/pushID"}],
          "post": {
            "operationId": "pausePush",
            "tags": ["pushes"],
            "summary": "Holds what has not left",
            "description": "Its time to live runs on.",
            "responses": {
              "200": {
                "description": "The push.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Push"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        },
        "/v1/pushes/{id}/resume": {
          "parameters": [{"$ref": "#/components/parameters/pushID"}],
          "post": {
            "operationId": "resumePush",
            "tags": ["pushes"],
            "summary": "Goes on with a paused push",
            "responses": {
              "200": {
                "description": "The push.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Push"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        },
        "/v1/pushes/{id}/withdraw": {
          "parameters": [{"$ref": "#/components/parameters/pushID"}],
          "post": {
            "operationId": "withdrawPush",
            "tags": ["pushes"],
            "summary": "Lets what has not left never leave",
            "description": "With clear, phones that it reached are asked by a silent push to show it no more, also when all of it has ended.",
            "requestBody": {
              "required": false,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Withdrawal"}}}
            },
            "responses": {
              "200": {
                "description": "The push.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Push"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        }
      },
      "schemas": {
        "PushDraft": {
          "type": "object", "additionalProperties": false,
          "required": ["audience"],
          "properties": {
            "audience": {"$ref": "#/components/schemas/Audience"},
            "kind": {
              "enum": ["normal", "background", "silent", "voip", null],
              "default": "normal",
              "description": "normal is shown; background is shown and wakes the app; silent only wakes it; voip rings by PushKit, with data alone. Push type and priority follow from it."
            },
            "alert": {"type": ["string", "object", "null"], "description": "A text, or Apple's alert dictionary."},
            "sound": {
              "anyOf": [
                {"type": ["string", "null"]},
                {
                  "type": "object", "additionalProperties": false,
                  "properties": {
                    "critical": {"enum": [true, false, 1, 0, null]},
                    "name": {"type": ["string", "null"]},
                    "volume": {"type": ["number", "null"], "minimum": 0, "maximum": 1}
                  }
                }
              ]
            },
            "badge": {
              "description": "A number, or counted from each device's own.",
              "anyOf": [
                {"type": ["integer", "null"], "minimum": 0, "maximum": 99999},
                {"type": "string", "pattern": "^([+-]?[0-9]{1,5})?$"}
              ],
              "examples": ["+1"]
            },
            "category": {"type": ["string", "null"]},
            "threadId": {"type": ["string", "null"]},
            "interruptionLevel": {"enum": ["active", "critical", "passive", "time-sensitive", null]},
            "attachments": {
              "type": ["array", "null"],
              "items": {"type": "string", "pattern": "^https://."},
              "description": "For the app's service extension, under the key attachments."
            },
            "mutableContent": {"type": ["boolean", "null"], "description": "Runs the service extension."},
            "data": {
              "type": ["object", "null"],
              "description": "Beside aps, as written. No key aps, none that begins with _j_."
            },
            "languages": {
              "type": ["object", "null"],
              "description": "In place of the alert's own texts, by language tag.",
              "additionalProperties": {
                "type": "object", "additionalProperties": false, "minProperties": 1,
                "properties": {
                  "title": {"type": ["string", "null"]},
                  "subtitle": {"type": ["string", "null"]},
                  "body": {"type": ["string", "null"]}
                }
              }
            },
            "places": {"type": ["boolean", "null"], "description": "{{name|default}} is filled for each device."},
            "recipients": {
              "type": ["object", "null"],
              "description": "What fills places, by registration id or alias, then by name.",
              "additionalProperties": {"type": "object", "additionalProperties": {"type": ["string", "number"]}}
            },
            "shorten": {
              "type": ["boolean", "null"],
              "description": "Texts that make it larger than APNs takes are cut, never within a character."
            },
            "message": {
              "type": ["object", "null"], "additionalProperties": false,
              "required": ["content"],
              "properties": {
                "content": {"type": "string"},
                "title": {"type": ["string", "null"]},
                "contentType": {"type": ["string", "null"]},
                "extras": {"type": ["object", "null"]}
              },
              "description": "To the running app, beside the notification. Not with kind voip."
            },
            "timeToLive": {
              "type": ["integer", "null"],
              "minimum": 0, "maximum": 864000,
              "description": "Seconds; a day when it is not said."
            },
            "collapseId": {"type": ["string", "null"], "minLength": 1, "maxLength": 64},
            "environment": {"enum": ["production", "sandbox", null], "default": "production"},
            "scheduled": {
              "type": ["boolean", "null"],
              "description": "Also for users who want only the scheduled push."
            },
            "perSecond": {
              "type": ["integer", "null"],
              "minimum": 1, "maximum": 1000000,
              "description": "Devices a second."
            },
            "overMinutes": {
              "type": ["integer", "null"],
              "minimum": 1, "maximum": 1400,
              "description": "Spread evenly; not beside perSecond."
            },
            "quietHours": {"enum": ["wait", "pass", "drop", null], "default": "wait"},
            "channel": {
              "anyOf": [{"$ref": "#/components/schemas/Name"}, {"type": "null"}],
              "description": "What it is about; kept from users who chose other channels."
            },
            "replaces": {
              "anyOf": [{"$ref": "#/components/schemas/MessageID"}, {"type": "null"}],
              "description": "A push whose notification this one takes the place of; what of that has not left never will."
            }
          },
          "examples": [
            {
              "audience": {"tag": "vip"},
              "alert": {"title": "Order", "body": "Hello {{name|there}}, it is on its way"},
              "badge": "+1", "sound": "default", "places": true,
              "recipients": {"lin": {"name": "Lin"}},
              "data": {"url": "app://orders/7"}
            }
          ]
        },
        "PushReceipt": {
          "type": "object",
          "required": ["id", "targeted", "warnings", "unmatched"],
          "properties": {
            "id": {"$ref": "#/components/schemas/PushID"},
            "targeted": {"$ref": "#/components/schemas/Count", "description": "Devices that will be tried."},
            "warnings": {"type": "array", "items": {"type": "string"}},
            "unmatched": {
              "type": "array",
              "items": {"type": "string"},
              "description": "What of the audience nobody matches."
            }
          }
        },
        "PushPreview": {
          "type": "object",
          "required": ["targeted", "pushType", "priority", "sizes", "warnings", "unmatched"],
          "properties": {
            "targeted": {"$ref": "#/components/schemas/Count"},
            "pushType": {"type": "string"},
            "priority": {"enum": [1, 5, 10]},
            "sizes": {
              "type": "object",
              "required": ["ios"],
              "properties": {
                "ios": {
                  "type": "object",
                  "required": ["bytes", "limit"],
                  "description": "Of the finished payload, the largest where it differs by language.",
                  "properties": {
                    "bytes": {"$ref": "#/components/schemas/Count"},
                    "limit": {"$ref": "#/components/schemas/Count"}
                  }
                }
              }
            },
            "warnings": {"type": "array", "items": {"type": "string"}},
            "unmatched": {"type": "array", "items": {"type": "string"}}
          }
        },
        "Withdrawal": {
          "type": "object", "additionalProperties": false,
          "properties": {"clear": {"type": ["boolean", "null"], "default": false}},
          "examples": [{"clear": true}]
        },
        "PushID": {"type": "string", "pattern": "^[0-9]+$", "examples": ["18100287008546132"]},
        "PushCounts": {
          "type": "object",
          "required": [
            "accepted", "expired", "unanswered", "skipped", "skippedByPreference", "withdrawn", "received", "shown",
            "clicked"
          ],
          "properties": {
            "accepted": {"$ref": "#/components/schemas/Count", "description": "By APNs."},
            "expired": {"$ref": "#/components/schemas/Count"},
            "unanswered": {
              "$ref": "#/components/schemas/Count",
              "description": "Sent, and no answer came before it expired."
            },
            "skipped": {"$ref": "#/components/schemas/Count", "description": "The token died or moved since."},
            "skippedByPreference": {"$ref": "#/components/schemas/Count"},
            "withdrawn": {"$ref": "#/components/schemas/Count"},
            "received": {"$ref": "#/components/schemas/Count", "description": "As devices said."},
            "shown": {"$ref": "#/components/schemas/Count", "description": "As devices said."},
            "clicked": {"$ref": "#/components/schemas/Count", "description": "As devices said."}
          }
        },
        "PushSummary": {
          "allOf": [{"$ref": "#/components/schemas/PushCounts"}],
          "type": "object",
          "required": [
            "id", "state", "acceptedAt", "targeted", "sent", "pending", "wrongEnvironment", "deadTokens", "refused",
            "warnings"
          ],
          "properties": {
            "id": {"$ref": "#/components/schemas/PushID"},
            "state": {"enum": ["sending", "waiting", "finished", "paused", "withdrawn"]},
            "reason": {"type": "string", "description": "Why it is waiting."},
            "acceptedAt": {"$ref": "#/components/schemas/Time"},
            "targeted": {"$ref": "#/components/schemas/Count"},
            "sent": {"$ref": "#/components/schemas/Count", "description": "Left for APNs, whatever was answered."},
            "pending": {"$ref": "#/components/schemas/Count"},
            "wrongEnvironment": {
              "$ref": "#/components/schemas/Count",
              "description": "Of the audience, but of the other environment."
            },
            "deadTokens": {
              "$ref": "#/components/schemas/Count",
              "description": "Of the audience, but without a token that lives."
            },
            "refused": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["reason", "count"],
                "properties": {"reason": {"type": "string"}, "count": {"$ref": "#/components/schemas/Count"}}
              }
            },
            "warnings": {"type": "array", "items": {"type": "string"}},
            "message": {
              "type": "object",
              "description": "Of its in-app message; absent without one.",
              "required": ["targeted", "delivered", "read"],
              "properties": {
                "targeted": {
                  "$ref": "#/components/schemas/Count",
                  "description": "Devices that are meant, whatever became of their tokens."
                },
                "delivered": {"$ref": "#/components/schemas/Count", "description": "Whose app has it."},
                "read": {"$ref": "#/components/schemas/Count", "description": "Whose user has read it."}
              }
            },
            "voipPush": {
              "$ref": "#/components/schemas/PushID",
              "description": "The push to VoIP tokens that was accepted with it."
            },
            "beside": {"$ref": "#/components/schemas/PushID", "description": "The push that it was accepted with."},
            "broadcast": {
              "type": "object",
              "description": "Of a push to a channel, which counts as its one device.",
              "required": ["channel", "requestId"],
              "properties": {
                "channel": {"$ref": "#/components/schemas/ChannelID"},
                "requestId": {"type": "string", "description": "apns-request-id, for Apple's console and support."}
              }
            }
          }
        },
        "Push": {
          "allOf": [{"$ref": "#/components/schemas/PushSummary"}],
          "type": "object",
          "required": ["byHour", "byAppVersion"],
          "properties": {
            "byHour": {
              "type": "array",
              "items": {
                "allOf": [{"$ref": "#/components/schemas/PushCounts"}],
                "type": "object",
                "required": ["hour", "refused"],
                "properties": {
                  "hour": {"$ref": "#/components/schemas/Time"},
                  "refused": {"$ref": "#/components/schemas/Count"}
                }
              }
            },
            "byAppVersion": {
              "type": "array",
              "items": {
                "allOf": [{"$ref": "#/components/schemas/PushCounts"}],
                "type": "object",
                "required": ["appVersion", "refused"],
                "properties": {
                  "appVersion": {"type": ["string", "null"]},
                  "refused": {"$ref": "#/components/schemas/Count"}
                }
              }
            }
          }
        }
      }
    }
    """#
}
