extension OpenAPIDocument {
  /// Audiences, segments and A/B tests.
  static let audiences = #"""
    {
      "paths": {
        "/v1/audiences/count": {
          "post": {
            "operationId": "countAudience",
            "tags": ["audiences"],
            "summary": "How many devices an audience means now",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AudienceHolder"}}}
            },
            "responses": {
              "200": {
                "description": "How many.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AudienceCount"}}}
              }
            }
          }
        },
        "/v1/segments": {
          "get": {
            "operationId": "listSegments",
            "tags": ["audiences"],
            "summary": "Saved audiences, by id",
            "parameters": [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/cursor"}],
            "responses": {"200": \#(page("segments", of: "Segment"))}
          }
        },
        "/v1/segments/{id}": {
          "parameters": [{"$ref": "#/components/parameters/resourceID"}],
          "get": {
            "operationId": "showSegment",
            "tags": ["audiences"],
            "summary": "A saved audience",
            "responses": {
              "200": {
                "description": "The segment.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Segment"}}}
              }
            }
          },
          "put": {
            "operationId": "putSegment",
            "tags": ["audiences"],
            "summary": "Saves an audience, or replaces it",
            "description": "Evaluated anew each time it is named. It may not name a segment itself.",
            "parameters": [{"$ref": "#/components/parameters/ifMatch"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AudienceHolder"}}}
            },
            "responses": {
              "200": {
                "description": "The segment.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Segment"}}}
              },
              "412": {"$ref": "#/components/responses/Changed"}
            }
          },
          "delete": {
            "operationId": "deleteSegment",
            "tags": ["audiences"],
            "summary": "Forgets a saved audience",
            "responses": {"204": {"description": "It is gone."}}
          }
        },
        "/v1/ab-tests": {
          "get": {
            "operationId": "listABTests",
            "tags": ["audiences"],
            "summary": "A/B tests, by id",
            "parameters": [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/cursor"}],
            "responses": {"200": \#(page("tests", of: "ABTest"))}
          }
        },
        "/v1/ab-tests/{id}": {
          "parameters": [{"$ref": "#/components/parameters/resourceID"}],
          "get": {
            "operationId": "showABTest",
            "tags": ["audiences"],
            "summary": "An A/B test, with what became of the pushes to each variant",
            "responses": {
              "200": {
                "description": "The test.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ABTest"}}}
              }
            }
          },
          "put": {
            "operationId": "putABTest",
            "tags": ["audiences"],
            "summary": "Makes an A/B test",
            "description": "A device stays in its variant for as long as the test is there. The same test again is no fault; another one under its id is (409).",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ABTestDraft"}}}
            },
            "responses": {
              "200": {
                "description": "The test.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ABTest"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          },
          "delete": {
            "operationId": "deleteABTest",
            "tags": ["audiences"],
            "summary": "Forgets an A/B test",
            "responses": {"204": {"description": "It is gone."}}
          }
        }
      },
      "schemas": {
        "Audience": {
          "anyOf": [{"const": "everyone"}, {"$ref": "#/components/schemas/AudienceClauses"}],
          "examples": ["everyone", {"tag": "vip", "not": {"lastSeen": {"longerAgoThanDays": 30}}}]
        },
        "AudienceHolder": {
          "type": "object", "additionalProperties": false,
          "required": ["audience"],
          "properties": {"audience": {"$ref": "#/components/schemas/Audience"}},
          "examples": [{"audience": {"tag": "vip", "appVersion": {"atLeast": "2.3", "below": "3"}}}]
        },
        "AudienceClauses": {
          "type": "object", "additionalProperties": false, "minProperties": 1,
          "description": "Members combine by AND; a list under a name means any of it. At most 32 deep, 10,000 names.",
          "properties": {
            "and": {"type": ["array", "null"], "minItems": 1, "items": {"$ref": "#/components/schemas/Audience"}},
            "or": {"type": ["array", "null"], "minItems": 1, "items": {"$ref": "#/components/schemas/Audience"}},
            "not": {"anyOf": [{"$ref": "#/components/schemas/Audience"}, {"type": "null"}]},
            "tag": {"$ref": "#/components/schemas/AnyName"},
            "alias": {"$ref": "#/components/schemas/AnyName"},
            "registrationId": {
              "anyOf": [
                {"$ref": "#/components/schemas/RegistrationID"},
                {"type": "null"},
                {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/RegistrationID"}}
              ]
            },
            "segment": {
              "anyOf": [
                {"$ref": "#/components/schemas/ResourceID"},
                {"type": "null"},
                {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/ResourceID"}}
              ]
            },
            "file": {
              "anyOf": [
                {"$ref": "#/components/schemas/ResourceID"},
                {"type": "null"},
                {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/ResourceID"}}
              ],
              "description": "Whom a list of names (/v1/files) names. Not in a segment."
            },
            "appVersion": {"$ref": "#/components/schemas/VersionClause"},
            "osVersion": {"$ref": "#/components/schemas/VersionClause"},
            "language": {"$ref": "#/components/schemas/AnyFact", "description": "zh also means zh-Hans-CN."},
            "timeZone": {"$ref": "#/components/schemas/AnyFact"},
            "model": {"$ref": "#/components/schemas/AnyFact"},
            "permission": {
              "anyOf": [
                {"$ref": "#/components/schemas/Permission"},
                {"type": "null"},
                {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Permission"}}
              ]
            },
            "lastSeen": {"$ref": "#/components/schemas/TimeClause"},
            "created": {"$ref": "#/components/schemas/TimeClause"},
            "abTest": {
              "type": ["object", "null"],
              "additionalProperties": false,
              "required": ["id", "variant"],
              "properties": {
                "id": {"$ref": "#/components/schemas/ResourceID"},
                "variant": {"$ref": "#/components/schemas/ResourceID"}
              }
            }
          }
        },
        "AnyName": {
          "anyOf": [
            {"$ref": "#/components/schemas/Name"},
            {"type": "null"},
            {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Name"}}
          ]
        },
        "Fact": {"type": "string", "minLength": 1, "maxLength": 64},
        "AnyFact": {
          "anyOf": [
            {"$ref": "#/components/schemas/Fact"},
            {"type": "null"},
            {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Fact"}}
          ]
        },
        "OptionalFact": {"type": ["string", "null"], "minLength": 1, "maxLength": 64},
        "VersionClause": {
          "description": "Compared by number: 2.10 comes after 2.9, 2.0-beta before 2.0.",
          "anyOf": [
            {"$ref": "#/components/schemas/Fact"},
            {"type": "null"},
            {
              "type": "object", "additionalProperties": false, "minProperties": 1,
              "properties": {
                "is": {"$ref": "#/components/schemas/OptionalFact"},
                "isNot": {"$ref": "#/components/schemas/OptionalFact"},
                "atLeast": {"$ref": "#/components/schemas/OptionalFact"},
                "above": {"$ref": "#/components/schemas/OptionalFact"},
                "atMost": {"$ref": "#/components/schemas/OptionalFact"},
                "below": {"$ref": "#/components/schemas/OptionalFact"}
              }
            }
          ],
          "examples": [{"atLeast": "2.3", "below": "3"}]
        },
        "TimeClause": {
          "type": ["object", "null"],
          "additionalProperties": false, "minProperties": 1,
          "properties": {
            "from": {"$ref": "#/components/schemas/OptionalTime"},
            "before": {"$ref": "#/components/schemas/OptionalTime"},
            "withinDays": {"type": ["integer", "null"], "minimum": 0, "maximum": 36500},
            "longerAgoThanDays": {"type": ["integer", "null"], "minimum": 0, "maximum": 36500}
          },
          "examples": [{"withinDays": 30}]
        },
        "Permission": {"enum": ["notAsked", "denied", "authorized", "provisional"]},
        "AudienceCount": {
          "type": "object",
          "required": ["devices", "production", "sandbox", "deadTokens", "unmatched"],
          "properties": {
            "devices": {"$ref": "#/components/schemas/Count"},
            "production": {"$ref": "#/components/schemas/Count"},
            "sandbox": {"$ref": "#/components/schemas/Count"},
            "deadTokens": {
              "$ref": "#/components/schemas/Count",
              "description": "Not reached: APNs said that their tokens are no more."
            },
            "unmatched": {
              "type": "array",
              "items": {"type": "string"},
              "description": "What of it nobody matches."
            }
          }
        },
        "Segment": {
          "type": "object",
          "required": ["id", "audience", "updatedAt"],
          "properties": {
            "id": {"$ref": "#/components/schemas/ResourceID"},
            "audience": {"description": "As it was given."},
            "updatedAt": {"$ref": "#/components/schemas/Time"}
          }
        },
        "ABTestDraft": {
          "type": "object", "additionalProperties": false,
          "required": ["variants"],
          "properties": {
            "variants": {
              "type": "array", "minItems": 1, "maxItems": 20,
              "items": {
                "type": "object", "additionalProperties": false,
                "required": ["name", "percent"],
                "properties": {
                  "name": {"$ref": "#/components/schemas/ResourceID"},
                  "percent": {
                    "type": "number", "minimum": 0.01, "maximum": 100,
                    "description": "Of all devices; 100 at most for all variants together."
                  }
                }
              }
            }
          },
          "examples": [{"variants": [{"name": "a", "percent": 50}, {"name": "b", "percent": 50}]}]
        },
        "ABTest": {
          "type": "object",
          "required": ["id", "variants", "createdAt"],
          "properties": {
            "id": {"$ref": "#/components/schemas/ResourceID"},
            "createdAt": {"$ref": "#/components/schemas/Time"},
            "variants": {
              "type": "array",
              "items": {
                "type": "object",
                "required": ["name", "percent"],
                "properties": {
                  "name": {"$ref": "#/components/schemas/ResourceID"},
                  "percent": {"type": "number"},
                  "pushes": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Ids of the pushes to it alone; these members are in the answer for one test."
                  },
                  "targeted": {"$ref": "#/components/schemas/Count"},
                  "accepted": {"$ref": "#/components/schemas/Count"},
                  "refused": {"$ref": "#/components/schemas/Count"},
                  "expired": {"$ref": "#/components/schemas/Count"},
                  "unanswered": {"$ref": "#/components/schemas/Count"},
                  "skipped": {"$ref": "#/components/schemas/Count"}
                }
              }
            }
          }
        }
      }
    }
    """#
}
