extension OpenAPIDocument {
  static let apps = #"""
    {
      "paths": {
        "/v1/apps/{appKey}/secret": {
          "parameters": [
            {"name": "appKey", "in": "path", "required": true, "schema": {"$ref": "#/components/schemas/AppKey"}}
          ],
          "post": {
            "operationId": "renewSecret",
            "tags": ["apps"],
            "summary": "Makes a new master secret, told this once",
            "description": "From the answer on the old one is refused. By the app itself, or by a developer for any app.",
            "security": [{"app": []}, {"developer": []}],
            "responses": {
              "200": {
                "description": "The new secret.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AppSecret"}}}
              }
            }
          }
        }
      },
      "schemas": {
        "AppKey": {"type": "string", "pattern": "^[0-9a-f]{24}$", "examples": ["7d431e42dfa6a6d693ac2d04"]},
        "AppSecret": {
          "type": "object",
          "required": ["appKey", "masterSecret"],
          "properties": {
            "appKey": {"$ref": "#/components/schemas/AppKey"},
            "masterSecret": {"type": "string", "description": "Only its hash is kept."}
          }
        }
      }
    }
    """#
}
