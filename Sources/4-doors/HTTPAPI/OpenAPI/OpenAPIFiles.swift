extension OpenAPIDocument {
  static let files = #"""
    {
      "paths": {
        "/v1/files": {
          "get": {
            "operationId": "listFiles",
            "tags": ["audiences"],
            "summary": "Lists of names that audiences may name, oldest first",
            "description": "At most 20. The same as those of JPush's /v3/files.",
            "responses": {
              "200": {
                "description": "Those that have not expired.",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "required": ["files"],
                      "properties": {
                        "files": {"type": "array", "maxItems": 20, "items": {"$ref": "#/components/schemas/File"}}
                      }
                    }
                  }
                }
              }
            }
          },
          "post": {
            "operationId": "addFile",
            "tags": ["audiences"],
            "summary": "Keeps a list of names, one a line",
            "description": "At most 10 MiB. Whom the lines name is looked up when a push to it is accepted. An Idempotency-Key holds as long as its file.",
            "parameters": [
              {
                "name": "kind", "in": "query", "required": true, "description": "What the lines are.",
                "schema": {"enum": ["alias", "registrationId"]}
              },
              {
                "name": "name", "in": "query", "description": "For people; cut after 255 characters.",
                "schema": {"type": "string"}
              },
              {
                "name": "hours", "in": "query", "description": "How long it is kept.",
                "schema": {"type": "integer", "minimum": 1, "maximum": 720, "default": 720}
              },
              {"$ref": "#/components/parameters/idempotencyKey"}
            ],
            "requestBody": {
              "required": true,
              "content": {
                "text/plain": {"schema": {"type": "string", "minLength": 1}, "example": "lin\nwei\n"}
              }
            },
            "responses": {
              "200": {
                "description": "The file that the same key made before.",
                "headers": {"Location": {"$ref": "#/components/headers/Location"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/File"}}}
              },
              "201": {
                "description": "The file.",
                "headers": {"Location": {"$ref": "#/components/headers/Location"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/File"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        },
        "/v1/files/{id}": {
          "parameters": [
            {
              "name": "id", "in": "path", "required": true,
              "schema": {"$ref": "#/components/schemas/ResourceID"}
            }
          ],
          "get": {
            "operationId": "showFile",
            "tags": ["audiences"],
            "summary": "A list of names",
            "responses": {
              "200": {
                "description": "The file.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/File"}}}
              }
            }
          },
          "delete": {
            "operationId": "removeFile",
            "tags": ["audiences"],
            "summary": "Forgets a list of names",
            "description": "Pushes that were accepted keep their devices.",
            "responses": {"204": {"description": "It is gone."}}
          }
        }
      },
      "schemas": {
        "File": {
          "type": "object",
          "required": ["id", "kind", "name", "createdAt", "expiresAt"],
          "properties": {
            "id": {"$ref": "#/components/schemas/ResourceID"},
            "kind": {"enum": ["alias", "registrationId"]},
            "name": {"type": "string"},
            "createdAt": {"$ref": "#/components/schemas/Time"},
            "expiresAt": {"$ref": "#/components/schemas/Time"}
          }
        }
      }
    }
    """#
}
