extension OpenAPIDocument {
  static let messages = #"""
    {
      "paths": {
        "/v1/messages": {
          "get": {
            "operationId": "listMessages",
            "tags": ["messages"],
            "summary": "In-app messages, newest first",
            "description": "Also those that went beside a notification.",
            "parameters": [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/cursor"}],
            "responses": {"200": \#(page("messages", of: "Message"))}
          },
          "post": {
            "operationId": "sendMessage",
            "tags": ["messages"],
            "summary": "Sends an in-app message by itself",
            "description": "A push without a notification, answered when it is durable: its id is the push's. 409 when another request came under the same key.",
            "parameters": [{"$ref": "#/components/parameters/idempotencyKey"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/MessageDraft"}}}
            },
            "responses": {
              "200": {
                "description": "What the same key sent before.",
                "headers": {"Location": {"$ref": "#/components/headers/Location"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PushReceipt"}}}
              },
              "201": {
                "description": "It is durable.",
                "headers": {"Location": {"$ref": "#/components/headers/Location"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PushReceipt"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        },
        "/v1/messages/{id}": {
          "parameters": [{"$ref": "#/components/parameters/pushID"}],
          "get": {
            "operationId": "showMessage",
            "tags": ["messages"],
            "summary": "A message, and who has it",
            "responses": {
              "200": {
                "description": "The message.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Message"}}}
              }
            }
          },
          "delete": {
            "operationId": "removeMessage",
            "tags": ["messages"],
            "summary": "Takes a message from everybody",
            "description": "Apps that have it are told; those that it waits for never get it. A notification of the same push goes on.",
            "responses": {"204": {"description": "It is withdrawn."}}
          }
        },
        "/v1/devices/{registrationId}/messages": {
          "parameters": [{"$ref": "#/components/parameters/registrationID"}],
          "get": {
            "operationId": "listDeviceMessages",
            "tags": ["messages"],
            "summary": "A device's messages, newest first",
            "description": "What the app there finds in its history.",
            "parameters": [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/cursor"}],
            "responses": {"200": \#(page("messages", of: "DeviceMessage"))}
          }
        }
      },
      "schemas": {
        "MessageDraft": {
          "type": "object", "additionalProperties": false,
          "required": ["audience", "content"],
          "properties": {
            "audience": {"$ref": "#/components/schemas/Audience"},
            "content": {"type": "string"},
            "title": {"type": ["string", "null"]},
            "contentType": {"type": ["string", "null"]},
            "extras": {"type": ["object", "null"], "description": "At most 4,000 bytes, with all the rest."},
            "timeToLive": {
              "type": ["integer", "null"], "minimum": 0, "maximum": 864000,
              "description": "Seconds; 0: for those who are connected now. Without it the message lasts."
            }
          },
          "examples": [{"audience": "everyone", "content": "Hello", "extras": {"room": 7}}]
        },
        "Message": {
          "type": "object",
          "required": [
            "id", "sentAt", "expiresAt", "withdrawnAt", "targeted", "delivered", "read", "content", "title",
            "contentType", "extras"
          ],
          "properties": {
            "id": {"$ref": "#/components/schemas/PushID"},
            "sentAt": {"$ref": "#/components/schemas/Time"},
            "expiresAt": {"$ref": "#/components/schemas/OptionalTime"},
            "withdrawnAt": {"$ref": "#/components/schemas/OptionalTime"},
            "targeted": {"$ref": "#/components/schemas/Count"},
            "delivered": {"$ref": "#/components/schemas/Count", "description": "Devices whose app has it."},
            "read": {"$ref": "#/components/schemas/Count", "description": "Devices whose user has read it."},
            "content": {"type": "string"},
            "title": {"type": ["string", "null"]},
            "contentType": {"type": ["string", "null"]},
            "extras": {"type": ["object", "null"]}
          }
        },
        "DeviceMessage": {
          "type": "object",
          "required": ["id", "sentAt", "delivered", "content", "title", "contentType", "extras"],
          "properties": {
            "id": {"$ref": "#/components/schemas/PushID"},
            "sentAt": {"$ref": "#/components/schemas/Time"},
            "delivered": {"type": "boolean", "description": "The app has said that it has it."},
            "content": {"type": "string"},
            "title": {"type": ["string", "null"]},
            "contentType": {"type": ["string", "null"]},
            "extras": {"type": ["object", "null"]}
          }
        }
      }
    }
    """#
}
