extension OpenAPIDocument {
  /// All but the paths and their schemas.
  static let frame = #"""
    {
      "openapi": "3.1.0",
      "info": {
        "title": "Belfry", "version": "1",
        "summary": "Push notifications to the iPhones of an app.",
        "description": "Calls of an app server (/v1) authenticate by app key and master secret; those of a device (/device/v1) by app key and the device's secret. Faults are problems (RFC 9457). A member of a request that is null counts as absent; a key that is not known, or comes twice, is refused. HEAD is answered wherever GET is."
      },
      "servers": [{"url": "/"}],
      "security": [{"app": []}],
      "tags": [
        {"name": "pushes"},
        {"name": "messages", "description": "To the running app, by the gateway (docs/gateway-protocol.md)."},
        {"name": "live-activities"},
        {"name": "channels", "description": "Broadcast channels of Live Activities, as APNs keeps them."},
        {"name": "schedules"},
        {"name": "devices"},
        {"name": "tags"},
        {"name": "audiences"},
        {"name": "webhooks"},
        {"name": "credentials", "description": "What an app's pushes authenticate to APNs with."},
        {"name": "apps"},
        {"name": "audit"},
        {"name": "registrations", "description": "What the app on a phone calls for itself."},
        {"name": "description"}
      ],
      "components": {
        "securitySchemes": {
          "app": {"type": "http", "scheme": "basic", "description": "User: app key; password: master secret."},
          "developer": {
            "type": "http", "scheme": "basic", "description": "User: developer key; password: its secret (belfry dev create)."
          },
          "device": {
            "type": "http", "scheme": "basic",
            "description": "User: app key; password: the secret that the registration answered."
          }
        },
        "parameters": {
          "limit": {
            "name": "limit", "in": "query",
            "description": "Entries of a page.",
            "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
          },
          "cursor": {
            "name": "cursor", "in": "query",
            "description": "What the page before answered in next.",
            "schema": {"type": "string"}
          },
          "appKey": {
            "name": "appKey", "in": "path", "required": true,
            "schema": {"$ref": "#/components/schemas/AppKey"}
          },
          "pushID": {
            "name": "id", "in": "path", "required": true,
            "schema": {"$ref": "#/components/schemas/PushID"}
          },
          "activityID": {
            "name": "id", "in": "path", "required": true,
            "schema": {"$ref": "#/components/schemas/ActivityID"}
          },
          "channelID": {
            "name": "id", "in": "path", "required": true,
            "schema": {"$ref": "#/components/schemas/ChannelID"}
          },
          "environment": {
            "name": "environment", "in": "query",
            "schema": {"enum": ["production", "sandbox"], "default": "production"}
          },
          "scheduleID": {
            "name": "id", "in": "path", "required": true,
            "schema": {"$ref": "#/components/schemas/ScheduleID"}
          },
          "credentialID": {
            "name": "id", "in": "path", "required": true,
            "schema": {"$ref": "#/components/schemas/CredentialID"}
          },
          "webhookID": {
            "name": "id", "in": "path", "required": true,
            "schema": {"$ref": "#/components/schemas/WebhookID"}
          },
          "resourceID": {
            "name": "id", "in": "path", "required": true,
            "schema": {"$ref": "#/components/schemas/ResourceID"}
          },
          "registrationID": {
            "name": "registrationId", "in": "path", "required": true,
            "schema": {"$ref": "#/components/schemas/RegistrationID"}
          },
          "ifMatch": {
            "name": "If-Match", "in": "header",
            "description": "The ETag of what was read: the edit is refused (412) when it has changed since.",
            "schema": {"type": "string"}
          },
          "idempotencyKey": {
            "name": "Idempotency-Key", "in": "header",
            "description": "The same request under the same key within a day is answered by what the first one made (200), and makes nothing.",
            "schema": {"type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": 64}
          }
        },
        "headers": {
          "RateLimit": {
            "required": true,
            "description": "Calls a minute.",
            "schema": {"type": "integer", "minimum": 1}
          },
          "RateQuota": {
            "required": true,
            "description": "The same under another name.",
            "schema": {"type": "integer", "minimum": 1}
          },
          "RateRemaining": {
            "required": true,
            "description": "Calls that are left now.",
            "schema": {"type": "integer", "minimum": 0}
          },
          "RateReset": {
            "required": true,
            "description": "Seconds until all are left again.",
            "schema": {"type": "integer", "minimum": 0}
          },
          "ETag": {
            "required": true,
            "description": "What If-Match takes.",
            "schema": {"type": "string", "pattern": "^\"[0-9a-f]+\"$"}
          },
          "Location": {"required": true, "description": "The path of what was made.", "schema": {"type": "string"}}
        },
        "responses": {
          "Invalid": {
            "description": "The request is not as it must be; detail says where, and what to do.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "Unauthorized": {
            "description": "The credentials are missing or wrong.",
            "headers": {"WWW-Authenticate": {"required": true, "schema": {"type": "string"}}},
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "NotFound": {
            "description": "There is no such thing.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "MethodNotAllowed": {
            "description": "The path takes other methods.",
            "headers": {"Allow": {"required": true, "description": "Those.", "schema": {"type": "string"}}},
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "Conflict": {
            "description": "It does not go with what is there.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "Changed": {
            "description": "It was changed since it was read.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "TooLarge": {
            "description": "The body is above 4 MiB.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "TooMany": {
            "description": "Too many calls.",
            "headers": {
              "Retry-After": {
                "required": true,
                "description": "Seconds.",
                "schema": {"type": "integer", "minimum": 1}
              }
            },
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "HeadTooLarge": {
            "description": "The header fields are above 16 KiB.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "Failed": {
            "description": "A fault of the server; its log tells more.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          },
          "Unavailable": {
            "description": "Not now: the store takes no writes, or the server stops.",
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
          }
        },
        "schemas": {
          "Problem": {
            "type": "object",
            "required": ["type", "title", "status", "detail", "code", "error"],
            "properties": {
              "type": {"type": "string", "description": "Where docs/api.md explains it."},
              "title": {"type": "string"},
              "status": {"type": "integer", "minimum": 400, "maximum": 599},
              "detail": {"type": "string", "description": "Where, what was found, and what to do."},
              "code": {"type": "integer", "description": "Of JPush's numbers, or from 9000 on of ours."},
              "place": {"type": "string", "description": "A JSON path, or the name of a header or parameter."},
              "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                  "code": {"type": "integer"},
                  "message": {"type": "string"},
                  "illegal_rids": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "The registration ids at fault."
                  }
                }
              }
            },
            "examples": [
              {
                "type": "docs/api.md#1009", "title": "Bad Request", "status": 400, "code": 1009,
                "place": "audience.tags",
                "detail": "audience.tags: the key \"tags\" does not exist. Did you mean tag?",
                "error": {
                  "code": 1009, "message": "audience.tags: the key \"tags\" does not exist. Did you mean tag?"
                }
              }
            ]
          },
          "Next": {
            "type": ["string", "null"],
            "description": "The cursor of the page that follows; null at the end."
          },
          "Time": {"type": "string", "format": "date-time"},
          "OptionalTime": {"type": ["string", "null"], "format": "date-time"},
          "Count": {"type": "integer", "minimum": 0},
          "RegistrationID": {
            "type": "string", "pattern": "^[0-9A-Za-z]+$", "minLength": 1, "maxLength": 64,
            "examples": ["1507bfd3f7c466c355c"]
          },
          "Name": {
            "type": "string",
            "description": "Of a tag or alias: letters, digits, underscore, Chinese characters and @!#$&*+=.|￥; 40 bytes of UTF-8.",
            "pattern": "^[0-9A-Za-z_@!#$&*+=.|￥\u3006\u3007\u3021-\u3029\u3038-\u303A\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFA6D\uFA70-\uFAD9]+$", "minLength": 1, "maxLength": 40,
            "examples": ["vip"]
          },
          "ResourceID": {
            "type": "string", "pattern": "^[0-9A-Za-z_-]+$", "minLength": 1, "maxLength": 64,
            "examples": ["sleeping"]
          }
        }
      }
    }
    """#

  /// The answer of a list: a part of it under `key`, and where the next part begins.
  static func page(_ key: String, of schema: String) -> String {
    #"""
    {
      "description": "A page of them.",
      "content": {
        "application/json": {
          "schema": {
            "type": "object",
            "required": ["\#(key)", "next"],
            "properties": {
              "\#(key)": {"type": "array", "items": {"$ref": "#/components/schemas/\#(schema)"}},
              "next": {"$ref": "#/components/schemas/Next"}
            }
          }
        }
      }
    }
    """#
  }
}
