extension OpenAPIDocument {
  static let channels = #"""
    {
      "paths": {
        "/v1/channels": {
          "get": {
            "operationId": "listChannels",
            "tags": ["channels"],
            "summary": "The app's broadcast channels",
            "parameters": [
              {"$ref": "#/components/parameters/limit"},
              {"$ref": "#/components/parameters/cursor"},
              {"$ref": "#/components/parameters/environment"}
            ],
            "responses": {"200": \#(page("channels", of: "ChannelEntry")), "409": {"$ref": "#/components/responses/Conflict"}}
          },
          "post": {
            "operationId": "createChannel",
            "tags": ["channels"],
            "summary": "Makes one",
            "description": "409 when APNs refuses; without an answer it may have been made: list them.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ChannelDraft"}}}
            },
            "responses": {
              "201": {
                "description": "It is there.",
                "headers": {"Location": {"$ref": "#/components/headers/Location"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Channel"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        },
        "/v1/channels/{id}": {
          "parameters": [
            {"$ref": "#/components/parameters/channelID"}, {"$ref": "#/components/parameters/environment"}
          ],
          "get": {
            "operationId": "showChannel",
            "tags": ["channels"],
            "summary": "What one keeps for phones that are away",
            "responses": {
              "200": {
                "description": "The channel.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Channel"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          },
          "delete": {
            "operationId": "deleteChannel",
            "tags": ["channels"],
            "summary": "Deletes one for good",
            "responses": {
              "204": {"description": "It is gone."},
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        },
        "/v1/channels/{id}/update": {
          "parameters": [{"$ref": "#/components/parameters/channelID"}],
          "post": {
            "operationId": "updateByChannel",
            "tags": ["channels"],
            "summary": "Updates every Live Activity that listens, by one send",
            "parameters": [{"$ref": "#/components/parameters/idempotencyKey"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/LiveActivityUpdate"}}}
            },
            "responses": \#(madePush)
          }
        },
        "/v1/channels/{id}/end": {
          "parameters": [{"$ref": "#/components/parameters/channelID"}],
          "post": {
            "operationId": "endByChannel",
            "tags": ["channels"],
            "summary": "Ends every Live Activity that listens, by one send",
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
        "ChannelID": {
          "type": "string", "minLength": 1, "maxLength": 256,
          "description": "Base64, as APNs chose it; percent-encoded in a path.",
          "examples": ["dGVzdA=="]
        },
        "ChannelStorage": {
          "enum": ["newest", "nothing"],
          "description": "newest: the newest message waits for phones that are away, 8 hours at most. Fixed for its life."
        },
        "ChannelEntry": {
          "type": "object",
          "required": ["id"],
          "properties": {"id": {"$ref": "#/components/schemas/ChannelID"}}
        },
        "Channel": {
          "type": "object",
          "required": ["id", "storage", "environment"],
          "properties": {
            "id": {"$ref": "#/components/schemas/ChannelID"},
            "storage": {"$ref": "#/components/schemas/ChannelStorage"},
            "environment": {"$ref": "#/components/schemas/Environment"}
          },
          "examples": [{"id": "dGVzdA==", "storage": "newest", "environment": "production"}]
        },
        "ChannelDraft": {
          "type": "object", "additionalProperties": false,
          "properties": {
            "storage": {"anyOf": [{"$ref": "#/components/schemas/ChannelStorage"}, {"type": "null"}]},
            "environment": {"$ref": "#/components/schemas/ToldEnvironment"}
          },
          "examples": [{"storage": "newest"}]
        }
      }
    }
    """#
}
