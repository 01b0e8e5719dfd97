extension OpenAPIDocument {
  static let activities = #"""
    {
      "paths": {
        "/v1/live-activities": {
          "get": {
            "operationId": "listLiveActivities",
            "tags": ["live-activities"],
            "summary": "Live Activities that run, as far as devices have told",
            "parameters": [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/cursor"}],
            "responses": {"200": \#(page("activities", of: "LiveActivity"))}
          },
          "post": {
            "operationId": "startLiveActivities",
            "tags": ["live-activities"],
            "summary": "Starts one on each device of an audience",
            "description": "Those that told a push-to-start token of the type; a push like others, answered when it is durable.",
            "parameters": [{"$ref": "#/components/parameters/idempotencyKey"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/LiveActivityStart"}}}
            },
            "responses": \#(madePush)
          }
        },
        "/v1/live-activities/{id}": {
          "parameters": [{"$ref": "#/components/parameters/activityID"}],
          "get": {
            "operationId": "showLiveActivity",
            "tags": ["live-activities"],
            "summary": "How many devices one runs on",
            "responses": {
              "200": {
                "description": "The activity.",
                "content": {
                  "application/json": {
                    "schema": {
                      "allOf": [{"$ref": "#/components/schemas/LiveActivity"}],
                      "type": "object",
                      "required": ["production", "sandbox"],
                      "properties": {
                        "production": {"$ref": "#/components/schemas/Count"},
                        "sandbox": {"$ref": "#/components/schemas/Count"}
                      }
                    }
                  }
                }
              }
            }
          }
        },
        "/v1/live-activities/{id}/update": {
          "parameters": [{"$ref": "#/components/parameters/activityID"}],
          "post": {
            "operationId": "updateLiveActivity",
            "tags": ["live-activities"],
            "summary": "Updates it on every device that it runs on",
            "parameters": [{"$ref": "#/components/parameters/idempotencyKey"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/LiveActivityUpdate"}}}
            },
            "responses": \#(madePush)
          }
        },
        "/v1/live-activities/{id}/end": {
          "parameters": [{"$ref": "#/components/parameters/activityID"}],
          "post": {
            "operationId": "endLiveActivity",
            "tags": ["live-activities"],
            "summary": "Ends it on every device that it runs on",
            "parameters": [{"$ref": "#/components/parameters/idempotencyKey"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/LiveActivityEnd"}}}
            },
            "responses": \#(madePush)
          }
        }
      },
      "schemas": {
        "ActivityID": {
          "type": "string",
          "description": "Of a Live Activity, or its attributes type.",
          "pattern": "^[0-9A-Za-z_.:-]+$", "minLength": 1, "maxLength": 64,
          "examples": ["order-7"]
        },
        "LiveActivity": {
          "type": "object",
          "required": ["id", "devices"],
          "properties": {
            "id": {"$ref": "#/components/schemas/ActivityID"},
            "devices": {"$ref": "#/components/schemas/Count", "description": "That told an update token which lives."}
          },
          "examples": [{"id": "order-7", "devices": 1}]
        },
        "ActivityText": {
          "anyOf": [
            {"type": "string"},
            {
              "type": "object", "additionalProperties": false,
              "required": ["loc-key"],
              "properties": {
                "loc-key": {"type": "string"},
                "loc-args": {"type": ["array", "null"], "items": {"type": "string"}}
              }
            }
          ]
        },
        "ActivityAlert": {
          "type": ["object", "null"], "additionalProperties": false,
          "required": ["title", "body"],
          "description": "Lights the phone up.",
          "properties": {
            "title": {"$ref": "#/components/schemas/ActivityText"},
            "body": {"$ref": "#/components/schemas/ActivityText"},
            "sound": {"type": ["string", "null"]}
          }
        },
        "ContentState": {"type": "object", "description": "The app's ContentState."},
        "ActivityPriority": {
          "enum": [10, 5, null],
          "default": 10,
          "description": "10 counts against what iOS grants an app an hour, 5 does not."
        },
        "ActivityTimeToLive": {
          "type": ["integer", "null"],
          "minimum": 0, "maximum": 864000,
          "description": "Seconds; a day when it is not said."
        },
        "LiveActivityStart": {
          "type": "object", "additionalProperties": false,
          "required": ["audience", "attributesType", "attributes", "contentState", "alert"],
          "properties": {
            "audience": {"$ref": "#/components/schemas/Audience"},
            "attributesType": {"$ref": "#/components/schemas/ActivityID"},
            "attributes": {"type": "object", "description": "What never changes of it."},
            "contentState": {"$ref": "#/components/schemas/ContentState"},
            "alert": {"$ref": "#/components/schemas/ActivityAlert"},
            "staleDate": {"$ref": "#/components/schemas/OptionalTime"},
            "relevanceScore": {"type": ["number", "null"], "description": "The highest has the Dynamic Island."},
            "priority": {"$ref": "#/components/schemas/ActivityPriority"},
            "channel": {
              "type": ["string", "null"],
              "description": "It listens to this broadcast channel (iOS 18)."
            },
            "wantsToken": {"type": ["boolean", "null"], "description": "Wakes the app with an update token (iOS 18)."},
            "timeToLive": {"$ref": "#/components/schemas/ActivityTimeToLive"},
            "environment": {"$ref": "#/components/schemas/ToldEnvironment"}
          },
          "examples": [
            {
              "audience": {"alias": "lin"}, "attributesType": "OrderAttributes", "attributes": {"order": 7},
              "contentState": {"minutes": 30}, "alert": {"title": "Order 7", "body": "It is on its way"}
            }
          ]
        },
        "LiveActivityUpdate": {
          "type": "object", "additionalProperties": false,
          "required": ["contentState"],
          "properties": {
            "contentState": {"$ref": "#/components/schemas/ContentState"},
            "alert": {"$ref": "#/components/schemas/ActivityAlert"},
            "staleDate": {"$ref": "#/components/schemas/OptionalTime"},
            "relevanceScore": {"type": ["number", "null"]},
            "priority": {"$ref": "#/components/schemas/ActivityPriority"},
            "timeToLive": {"$ref": "#/components/schemas/ActivityTimeToLive"},
            "environment": {"$ref": "#/components/schemas/ToldEnvironment"}
          },
          "examples": [{"contentState": {"minutes": 10}, "priority": 5}]
        },
        "LiveActivityEnd": {
          "type": "object", "additionalProperties": false,
          "properties": {
            "contentState": {
              "type": ["object", "null"],
              "description": "What it shows at last; what it showed, when it is not said."
            },
            "alert": {"$ref": "#/components/schemas/ActivityAlert"},
            "dismissalDate": {
              "$ref": "#/components/schemas/OptionalTime",
              "description": "When it leaves the Lock Screen: a past time is now, none is later than in four hours."
            },
            "relevanceScore": {"type": ["number", "null"]},
            "priority": {"$ref": "#/components/schemas/ActivityPriority"},
            "timeToLive": {"$ref": "#/components/schemas/ActivityTimeToLive"},
            "environment": {"$ref": "#/components/schemas/ToldEnvironment"}
          },
          "examples": [{"contentState": {"minutes": 0}}]
        }
      }
    }
    """#

  /// The answers of a call that makes a push.
  static let madePush = #"""
    {
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
    """#
}
