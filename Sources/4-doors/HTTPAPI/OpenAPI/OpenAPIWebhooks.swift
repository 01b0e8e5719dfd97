extension OpenAPIDocument {
  static let webhooks = #"""
    {
      "paths": {
        "/v1/webhooks": {
          "get": {
            "operationId": "listWebhooks",
            "tags": ["webhooks"],
            "summary": "Webhooks, oldest first",
            "parameters": [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/cursor"}],
            "responses": {"200": \#(page("webhooks", of: "Webhook"))}
          },
          "post": {
            "operationId": "createWebhook",
            "tags": ["webhooks"],
            "summary": "Makes a webhook, and tells its secret this once",
            "description": "At most 20 an app. docs/webhooks.md has the events' bodies and how the secret proves them.",
            "parameters": [{"$ref": "#/components/parameters/idempotencyKey"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/WebhookDraft"}}}
            },
            "responses": {
              "200": {
                "description": "The webhook that the same key made before, with its secret.",
                "headers": {
                  "ETag": {"$ref": "#/components/headers/ETag"},
                  "Location": {"$ref": "#/components/headers/Location"}
                },
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewWebhook"}}}
              },
              "201": {
                "description": "The webhook, with its secret.",
                "headers": {
                  "ETag": {"$ref": "#/components/headers/ETag"},
                  "Location": {"$ref": "#/components/headers/Location"}
                },
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewWebhook"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        },
        "/v1/webhooks/{id}": {
          "parameters": [{"$ref": "#/components/parameters/webhookID"}],
          "get": {
            "operationId": "showWebhook",
            "tags": ["webhooks"],
            "summary": "A webhook, and whether it takes what it is told",
            "responses": {
              "200": {
                "description": "The webhook.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Webhook"}}}
              }
            }
          },
          "patch": {
            "operationId": "editWebhook",
            "tags": ["webhooks"],
            "summary": "Changes what is named, each whole",
            "description": "What it was still to be told is posted at once, to the new address.",
            "parameters": [{"$ref": "#/components/parameters/ifMatch"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/WebhookEdit"}}}
            },
            "responses": {
              "200": {
                "description": "The webhook.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Webhook"}}}
              },
              "412": {"$ref": "#/components/responses/Changed"}
            }
          },
          "delete": {
            "operationId": "deleteWebhook",
            "tags": ["webhooks"],
            "summary": "Forgets a webhook, and what it was still to be told",
            "responses": {"204": {"description": "It is gone."}}
          }
        },
        "/v1/webhooks/{id}/test": {
          "parameters": [{"$ref": "#/components/parameters/webhookID"}],
          "post": {
            "operationId": "testWebhook",
            "tags": ["webhooks"],
            "summary": "Posts an event of the type test now, and answers what came of it",
            "description": "Also when it is not enabled.",
            "responses": {
              "200": {
                "description": "The attempt, taken or not.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/WebhookDelivery"}}}
              }
            }
          }
        },
        "/v1/webhooks/{id}/secret": {
          "parameters": [{"$ref": "#/components/parameters/webhookID"}],
          "post": {
            "operationId": "renewWebhookSecret",
            "tags": ["webhooks"],
            "summary": "Gives it another secret, told in this answer alone",
            "description": "For a while posts are signed with both.",
            "requestBody": {
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/WebhookSecretRenewal"}}}
            },
            "responses": {
              "200": {
                "description": "The webhook with its secret.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewWebhook"}}}
              },
              "412": {"$ref": "#/components/responses/Changed"}
            }
          }
        },
        "/v1/webhooks/{id}/deliveries": {
          "parameters": [{"$ref": "#/components/parameters/webhookID"}],
          "get": {
            "operationId": "listWebhookDeliveries",
            "tags": ["webhooks"],
            "summary": "The last attempts to tell it something, newest first",
            "responses": {
              "200": {
                "description": "The last 100.",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "required": ["deliveries"],
                      "properties": {
                        "deliveries": {
                          "type": "array", "maxItems": 100,
                          "items": {"$ref": "#/components/schemas/WebhookDelivery"}
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      },
      "schemas": {
        "WebhookID": {"type": "string", "pattern": "^[0-9]+$", "minLength": 1, "maxLength": 19},
        "WebhookURL": {
          "type": "string", "maxLength": 2000,
          "pattern": "^https?://([0-9A-Za-z._-]+|\\[[0-9A-Fa-f:.]+\\])(:[0-9]{1,5})?([/?][!\"$-~]*)?$",
          "description": "In ASCII, with a name or an IP address, without password and fragment. It must lead to the public internet, unless the operator allows others.",
          "examples": ["https://example.com/belfry"]
        },
        "WebhookEventName": {
          "type": "string",
          "enum": [
            "push.finished", "token.retired", "push.clicked", "sending.held_back", "failures.spiked", "push.sent",
            "push.undelivered", "push.delivered"
          ]
        },
        "WebhookDraft": {
          "type": "object", "additionalProperties": false,
          "required": ["url"],
          "properties": {
            "url": {"$ref": "#/components/schemas/WebhookURL"},
            "events": {
              "type": ["array", "null"],
              "minItems": 1,
              "items": {"$ref": "#/components/schemas/WebhookEventName"},
              "description": "Without it the first five: what becomes of each device of each push may be much."
            },
            "enabled": {"type": ["boolean", "null"], "default": true}
          },
          "examples": [{"url": "https://example.com/belfry", "events": ["push.finished", "push.clicked"]}]
        },
        "WebhookEdit": {
          "type": "object", "additionalProperties": false,
          "properties": {
            "url": {"anyOf": [{"$ref": "#/components/schemas/WebhookURL"}, {"type": "null"}]},
            "events": {
              "type": ["array", "null"],
              "minItems": 1,
              "items": {"$ref": "#/components/schemas/WebhookEventName"}
            },
            "enabled": {
              "type": ["boolean", "null"],
              "description": "What happens while it is false is never told."
            }
          },
          "examples": [{"enabled": false}]
        },
        "Webhook": {
          "type": "object",
          "required": [
            "id", "url", "events", "enabled", "createdAt", "failures", "nextAttemptAt", "formerSecretUntil", "dropped",
            "droppedAt"
          ],
          "properties": {
            "id": {"$ref": "#/components/schemas/WebhookID"},
            "url": {"$ref": "#/components/schemas/WebhookURL"},
            "events": {"type": "array", "items": {"$ref": "#/components/schemas/WebhookEventName"}},
            "enabled": {"type": "boolean"},
            "createdAt": {"$ref": "#/components/schemas/Time"},
            "failures": {
              "$ref": "#/components/schemas/Count", "description": "Attempts in a row that were not taken."
            },
            "nextAttemptAt": {
              "$ref": "#/components/schemas/OptionalTime", "description": "After a failure; else null."
            },
            "formerSecretUntil": {
              "$ref": "#/components/schemas/OptionalTime",
              "description": "Until then posts are signed with the secret before this one too."
            },
            "dropped": {
              "$ref": "#/components/schemas/Count", "description": "Events that it did not take in time, and so never will."
            },
            "droppedAt": {"$ref": "#/components/schemas/OptionalTime", "description": "When such went last."}
          }
        },
        "NewWebhook": {
          "allOf": [{"$ref": "#/components/schemas/Webhook"}],
          "type": "object",
          "required": ["secret"],
          "properties": {
            "secret": {
              "type": "string", "pattern": "^[0-9a-f]{64}$",
              "description": "The key of the signatures: these 64 characters, as they stand."
            }
          }
        },
        "WebhookSecretRenewal": {
          "type": "object", "additionalProperties": false,
          "properties": {
            "overlapHours": {
              "type": ["integer", "null"], "minimum": 0, "maximum": 168, "default": 24,
              "description": "How long posts are signed with the former secret too; 0 where that is known to others."
            }
          },
          "examples": [{"overlapHours": 24}]
        },
        "WebhookDelivery": {
          "type": "object",
          "required": ["at", "taken", "status", "fault", "firstEvent", "events", "milliseconds"],
          "properties": {
            "at": {"$ref": "#/components/schemas/Time"},
            "taken": {"type": "boolean"},
            "status": {"type": ["integer", "null"], "description": "What the receiver answered; null: nothing."},
            "fault": {"type": ["string", "null"], "description": "Why it was not taken."},
            "firstEvent": {"type": ["string", "null"], "description": "The first event's id; null for a test."},
            "events": {"$ref": "#/components/schemas/Count"},
            "milliseconds": {"$ref": "#/components/schemas/Count"}
          }
        }
      }
    }
    """#
}
