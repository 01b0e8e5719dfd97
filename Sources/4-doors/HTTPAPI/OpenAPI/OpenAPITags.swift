extension OpenAPIDocument {
  static let tags = #"""
    {
      "paths": {
        "/v1/tags": {
          "get": {
            "operationId": "listTags",
            "tags": ["tags"],
            "summary": "The tags that somebody has, by name",
            "parameters": [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/cursor"}],
            "responses": {"200": \#(page("tags", of: "Tag"))}
          }
        },
        "/v1/tags/{tag}": {
          "parameters": [
            {"name": "tag", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/Name"}}
          ],
          "get": {
            "operationId": "showTag",
            "tags": ["tags"],
            "summary": "A tag, and how many have it",
            "responses": {
              "200": {
                "description": "The tag.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tag"}}}
              }
            }
          },
          "patch": {
            "operationId": "editTag",
            "tags": ["tags"],
            "summary": "Gives devices a tag, or takes it from them",
            "description": "Whole or not at all. A device in both lists has it afterwards.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/TagEdit"}}}
            },
            "responses": {
              "200": {
                "description": "The tag.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tag"}}}
              }
            }
          },
          "delete": {
            "operationId": "deleteTag",
            "tags": ["tags"],
            "summary": "Takes a tag from all that have it",
            "responses": {"204": {"description": "Nobody has it."}}
          }
        }
      },
      "schemas": {
        "Tag": {
          "type": "object",
          "required": ["name", "devices"],
          "properties": {
            "name": {"$ref": "#/components/schemas/Name"},
            "devices": {
              "$ref": "#/components/schemas/Count",
              "description": "How many have it, whatever became of their tokens."
            }
          },
          "examples": [{"name": "vip", "devices": 1200}]
        },
        "TagEdit": {
          "type": "object", "additionalProperties": false,
          "properties": {
            "add": {
              "type": ["array", "null"],
              "maxItems": 1000,
              "items": {"type": "string"},
              "description": "Registration ids."
            },
            "remove": {
              "type": ["array", "null"],
              "maxItems": 1000,
              "items": {"type": "string"},
              "description": "Registration ids."
            }
          },
          "examples": [{"add": ["1507bfd3f7c466c355c"]}]
        }
      }
    }
    """#
}
