extension OpenAPIDocument {
  static let explanations = #"""
    {
      "paths": {
        "/v1/pushes/{id}/devices/{registrationId}": {
          "parameters": [
            {"$ref": "#/components/parameters/pushID"},
            {"$ref": "#/components/parameters/registrationID"}
          ],
          "get": {
            "operationId": "explainPush",
            "tags": ["pushes"],
            "summary": "Every decision about a device in a push, in order",
            "description": "Also about one that was not in the audience.",
            "responses": {
              "200": {
                "description": "The decisions.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Explanation"}}}
              }
            }
          }
        }
      },
      "schemas": {
        "Explanation": {
          "type": "object",
          "required": ["msg_id", "registrationId", "outcome", "decisions"],
          "properties": {
            "msg_id": {"$ref": "#/components/schemas/PushID"},
            "registrationId": {"$ref": "#/components/schemas/RegistrationID"},
            "outcome": {
              "enum": [
                "notTargeted", "pending", "accepted", "refused", "expired", "unanswered", "skipped",
                "skippedByPreference", "withdrawn"
              ]
            },
            "decisions": {"type": "array", "items": {"$ref": "#/components/schemas/Decision"}}
          }
        },
        "Decision": {
          "type": "object",
          "required": ["at", "by", "words"],
          "properties": {
            "at": {
              "$ref": "#/components/schemas/OptionalTime",
              "description": "null where only its place among the others is known."
            },
            "by": {
              "enum": ["service", "apns", "device", "phone"],
              "description": "Who decided or saw it; phone is a simulated one."
            },
            "words": {"type": "string"}
          }
        }
      }
    }
    """#
}
