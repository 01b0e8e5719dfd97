extension OpenAPIDocument {
  static let devices = #"""
    {
      "paths": {
        "/v1/devices": {
          "get": {
            "operationId": "listDevices",
            "tags": ["devices"],
            "summary": "Devices that all of the query means, oldest first",
            "parameters": [
              {"$ref": "#/components/parameters/limit"},
              {"$ref": "#/components/parameters/cursor"},
              {"name": "tag", "in": "query", "schema": {"$ref": "#/components/schemas/Name"}},
              {"name": "alias", "in": "query", "schema": {"$ref": "#/components/schemas/Name"}},
              {
                "name": "filter", "in": "query",
                "description": "An Audience, as JSON.",
                "schema": {"type": "string"},
                "example": "{\"language\": \"zh\"}"
              }
            ],
            "responses": {"200": \#(page("devices", of: "Device"))}
          }
        },
        "/v1/devices/{registrationId}": {
          "parameters": [{"$ref": "#/components/parameters/registrationID"}],
          "get": {
            "operationId": "showDevice",
            "tags": ["devices"],
            "summary": "A device",
            "responses": {
              "200": {
                "description": "The device.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Device"}}}
              }
            }
          },
          "patch": {
            "operationId": "editDevice",
            "tags": ["devices"],
            "summary": "Changes what an app server gives a device",
            "parameters": [{"$ref": "#/components/parameters/ifMatch"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/DeviceEdit"}}}
            },
            "responses": {
              "200": {
                "description": "The device.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Device"}}}
              },
              "412": {"$ref": "#/components/responses/Changed"}
            }
          },
          "delete": {
            "operationId": "deleteDevice",
            "tags": ["devices"],
            "summary": "Forgets a device",
            "description": "With all that was kept of it; its app registers anew under another id.",
            "responses": {"204": {"description": "It is gone."}}
          }
        }
      },
      "schemas": {
        "OwnDevice": {
          "type": "object",
          "required": [
            "registrationId", "environment", "tags", "alias", "mobile", "badge", "onlyScheduled", "osVersion",
            "appVersion", "language", "timeZone", "model", "permission", "quietHours", "channels", "voip",
            "activityStartTypes", "activities"
          ],
          "properties": {
            "registrationId": {"$ref": "#/components/schemas/RegistrationID"},
            "environment": {"$ref": "#/components/schemas/Environment"},
            "tags": {"type": "array", "items": {"$ref": "#/components/schemas/Name"}, "maxItems": 1000},
            "alias": {"type": ["string", "null"], "maxLength": 40},
            "mobile": {"type": ["string", "null"], "maxLength": 20},
            "badge": {"type": "integer", "minimum": 0, "maximum": 99999},
            "onlyScheduled": {
              "type": "boolean",
              "description": "The user wants no notification but the scheduled one."
            },
            "osVersion": {"$ref": "#/components/schemas/OptionalFact"},
            "appVersion": {"$ref": "#/components/schemas/OptionalFact"},
            "language": {"$ref": "#/components/schemas/OptionalFact"},
            "timeZone": {"$ref": "#/components/schemas/OptionalFact"},
            "model": {"$ref": "#/components/schemas/OptionalFact"},
            "permission": {"enum": ["notAsked", "denied", "authorized", "provisional", null]},
            "quietHours": {
              "type": ["string", "null"],
              "description": "When its user wants to see and hear nothing, by the clocks of its place; null: when the app's hours say."
            },
            "channels": {
              "type": ["array", "null"], "items": {"$ref": "#/components/schemas/Name"},
              "description": "Those whose notifications its user wants; null: all."
            },
            "voip": {"type": "boolean", "description": "It has a VoIP token."},
            "activityStartTypes": {
              "type": "array", "items": {"$ref": "#/components/schemas/ActivityID"},
              "description": "Attributes types that it has a push-to-start token of."
            },
            "activities": {
              "type": "array", "items": {"$ref": "#/components/schemas/ActivityID"},
              "description": "Live Activities that it has an update token of."
            }
          }
        },
        "Device": {
          "allOf": [{"$ref": "#/components/schemas/OwnDevice"}],
          "type": "object",
          "required": ["createdAt", "registeredAt", "lastSeen", "tokenDead"],
          "properties": {
            "createdAt": {"$ref": "#/components/schemas/Time"},
            "registeredAt": {"$ref": "#/components/schemas/Time"},
            "lastSeen": {"$ref": "#/components/schemas/Time"},
            "tokenDead": {"type": ["string", "null"], "description": "Why nothing is sent to it, in words."}
          }
        },
        "Environment": {"enum": ["production", "sandbox"]},
        "TagsEdit": {
          "description": "Removed before added. 100 names and 1,000 bytes in each list; 1,000 tags on a device. An empty string removes all.",
          "anyOf": [
            {"enum": ["", null]},
            {
              "type": "object", "additionalProperties": false,
              "properties": {
                "add": {"type": ["array", "null"], "maxItems": 100, "items": {"$ref": "#/components/schemas/Name"}},
                "remove": {
                  "type": ["array", "null"],
                  "maxItems": 100,
                  "items": {"$ref": "#/components/schemas/Name"}
                }
              }
            }
          ]
        },
        "AliasEdit": {
          "description": "An empty string removes it. At most ten devices share one.",
          "anyOf": [{"$ref": "#/components/schemas/Name"}, {"enum": ["", null]}]
        },
        "MobileEdit": {
          "type": ["string", "null"],
          "pattern": "^(\\+?[0-9][0-9-]*)?$", "maxLength": 20,
          "description": "An empty string or null removes it."
        },
        "BadgeEdit": {"type": ["integer", "null"], "minimum": 0, "maximum": 99999},
        "DeviceEdit": {
          "type": "object", "additionalProperties": false,
          "properties": {
            "tags": {"$ref": "#/components/schemas/TagsEdit"},
            "alias": {"$ref": "#/components/schemas/AliasEdit"},
            "mobile": {"$ref": "#/components/schemas/MobileEdit"},
            "badge": {"$ref": "#/components/schemas/BadgeEdit"},
            "onlyScheduled": {"type": ["boolean", "null"]}
          },
          "examples": [{"tags": {"add": ["vip"]}, "alias": "lin"}]
        }
      }
    }
    """#
}
