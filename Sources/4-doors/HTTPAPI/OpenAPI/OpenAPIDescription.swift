extension OpenAPIDocument {
  static let description = #"""
    {
      "paths": {
        "/v1/openapi.json": {
          "get": {
            "operationId": "describe",
            "tags": ["description"],
            "summary": "This document",
            "security": [],
            "responses": {
              "200": {
                "description": "OpenAPI 3.1.",
                "content": {"application/json": {"schema": {"type": "object", "required": ["openapi", "paths"]}}}
              }
            }
          }
        }
      }
    }
    """#
}
