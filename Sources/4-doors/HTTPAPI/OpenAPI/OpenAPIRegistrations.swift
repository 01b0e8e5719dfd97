extension OpenAPIDocument {
  /// What the app on a phone calls for itself.
  static let registrations = #"""
    {
      "paths": {
        "/device/v1/registrations": {
          "post": {
            "operationId": "register",
            "tags": ["registrations"],
            "summary": "Registers a device by its token",
            "security": [],
            "description": "The app key is all that an app on a phone holds. The same token again is the same device, which keeps its id and what it was given; the secret is new each time.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Registration"}}}
            },
            "responses": {
              "200": {
                "description": "It is kept.",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "required": ["registrationId", "deviceSecret"],
                      "properties": {
                        "registrationId": {"$ref": "#/components/schemas/RegistrationID"},
                        "deviceSecret": {
                          "type": "string", "pattern": "^[0-9a-f]{64}$",
                          "description": "The password of this device's calls."
                        }
                      }
                    }
                  }
                }
              },
              "401": {"$ref": "#/components/responses/Unauthorized", "description": "The app key is unknown."}
            }
          }
        },
        "/device/v1/registrations/{registrationId}": {
          "parameters": [{"$ref": "#/components/parameters/registrationID"}],
          "get": {
            "operationId": "showOwnDevice",
            "tags": ["registrations"],
            "summary": "What is kept of the device",
            "security": [{"device": []}],
            "responses": {
              "200": {
                "description": "The device.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OwnDevice"}}}
              }
            }
          },
          "post": {
            "operationId": "changeOwnDevice",
            "tags": ["registrations"],
            "summary": "Changes it",
            "security": [{"device": []}],
            "description": "Answered when it is durable. environment is that of a token beside it.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OwnDeviceEdit"}}}
            },
            "responses": {
              "200": {
                "description": "It is changed.",
                "content": {"application/json": {"schema": {"type": "object", "maxProperties": 0}}}
              }
            }
          }
        },
        "/device/v1/registrations/{registrationId}/reports": {
          "parameters": [{"$ref": "#/components/parameters/registrationID"}],
          "post": {
            "operationId": "reportPushes",
            "tags": ["registrations"],
            "summary": "Says what became of pushes on the device",
            "security": [{"device": []}],
            "description": "Each kind counts once for a device and a push, so that saying it again is safe.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PushSayings"}}}
            },
            "responses": {
              "200": {
                "description": "They are kept.",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "required": ["counted", "repeated", "unknown"],
                      "properties": {
                        "counted": {"$ref": "#/components/schemas/Count"},
                        "repeated": {"$ref": "#/components/schemas/Count"},
                        "unknown": {
                          "type": "array",
                          "items": {"type": "string"},
                          "description": "Ids that were not for this device."
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      },
      "schemas": {
        "ToldFact": {"type": ["string", "null"], "maxLength": 64},
        "ToldPermission": {"enum": ["notAsked", "denied", "authorized", "provisional", null]},
        "ToldEnvironment": {"enum": ["production", "sandbox", null], "default": "production"},
        "Registration": {
          "type": "object", "additionalProperties": false,
          "required": ["appKey", "token"],
          "properties": {
            "appKey": {"type": "string"},
            "token": {"type": "string", "minLength": 1, "description": "The device token in hex."},
            "environment": {"$ref": "#/components/schemas/ToldEnvironment"},
            "bundleId": {"type": ["string", "null"], "description": "Checked against the app's."},
            "osVersion": {"$ref": "#/components/schemas/ToldFact"},
            "appVersion": {"$ref": "#/components/schemas/ToldFact"},
            "language": {"$ref": "#/components/schemas/ToldFact"},
            "timeZone": {"$ref": "#/components/schemas/ToldFact"},
            "model": {"$ref": "#/components/schemas/ToldFact"},
            "permission": {"$ref": "#/components/schemas/ToldPermission"}
          }
        },
        "OwnDeviceEdit": {
          "type": "object", "additionalProperties": false,
          "properties": {
            "tags": {"$ref": "#/components/schemas/TagsEdit"},
            "alias": {"$ref": "#/components/schemas/AliasEdit"},
            "mobile": {"$ref": "#/components/schemas/MobileEdit"},
            "badge": {"$ref": "#/components/schemas/BadgeEdit"},
            "onlyScheduled": {"type": ["boolean", "null"]},
            "token": {"type": ["string", "null"], "minLength": 1},
            "environment": {"$ref": "#/components/schemas/ToldEnvironment"},
            "osVersion": {"$ref": "#/components/schemas/ToldFact"},
            "appVersion": {"$ref": "#/components/schemas/ToldFact"},
            "language": {"$ref": "#/components/schemas/ToldFact"},
            "timeZone": {"$ref": "#/components/schemas/ToldFact"},
            "model": {"$ref": "#/components/schemas/ToldFact"},
            "permission": {"$ref": "#/components/schemas/ToldPermission"},
            "quietHours": {
              "type": ["string", "null"],
              "pattern": "^(([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9])?$",
              "description": "The user's own, in the place of the app's; an empty string: those again. By the clocks of timeZone.",
              "examples": ["22:00-07:00"]
            },
            "channels": {
              "anyOf": [
                {"type": "array", "maxItems": 100, "items": {"$ref": "#/components/schemas/Name"}},
                {"enum": ["all", null]}
              ],
              "description": "Those whose notifications the user wants. A push of no channel comes all the same."
            },
            "voipToken": {
              "type": ["string", "null"],
              "description": "PushKit's, in hex. An empty string: there is none any more."
            },
            "activityStartTokens": {
              "$ref": "#/components/schemas/ActivityTokens",
              "description": "Push-to-start tokens by attributes type."
            },
            "activities": {
              "$ref": "#/components/schemas/ActivityTokens",
              "description": "Update tokens of running Live Activities, by ids of the app's own."
            }
          },
          "examples": [{"badge": 0, "language": "zh-Hans-CN", "timeZone": "Asia/Shanghai"}]
        },
        "ActivityTokens": {
          "type": ["object", "null"],
          "maxProperties": 20,
          "propertyNames": {"$ref": "#/components/schemas/ActivityID"},
          "additionalProperties": {
            "type": ["string", "null"],
            "description": "In hex; an empty string: there is none any more."
          }
        },
        "PushSayings": {
          "type": "object", "additionalProperties": false,
          "required": ["reports"],
          "properties": {
            "reports": {
              "type": "array", "minItems": 1, "maxItems": 100,
              "items": {
                "type": "object", "additionalProperties": false,
                "required": ["msgId", "kind"],
                "properties": {
                  "msgId": {"$ref": "#/components/schemas/MessageID"},
                  "kind": {"enum": ["received", "shown", "clicked"]},
                  "at": {"$ref": "#/components/schemas/OptionalTime", "description": "Now, when it is not said."}
                }
              }
            }
          },
          "examples": [
            {"reports": [{"msgId": "18100287008546132", "kind": "clicked", "at": "2026-11-30T09:00:00Z"}]}
          ]
        },
        "MessageID": {
          "description": "_j_msgid of a push: digits, in quotes or not.",
          "anyOf": [{"type": "string", "pattern": "^[0-9]+$"}, {"type": "integer", "minimum": 0}]
        }
      }
    }
    """#
}
