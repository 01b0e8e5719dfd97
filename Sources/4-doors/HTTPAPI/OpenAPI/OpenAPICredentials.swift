extension OpenAPIDocument {
  static let credentials = #"""
    {
      "paths": {
        "/v1/credentials": {
          "get": {
            "operationId": "listCredentials",
            "tags": ["credentials"],
            "summary": "The app's credentials, oldest first",
            "parameters": [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/cursor"}],
            "responses": {"200": \#(page("credentials", of: "Credential"))}
          },
          "post": {
            "operationId": "addCredential",
            "tags": ["credentials"],
            "summary": "Keeps a key or a certificate, sealed",
            "description": "Pushes use it from the answer on. The same one again changes nothing; 409 when the app has another one for an environment.",
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/CredentialDraft"}}}
            },
            "responses": {
              "200": {
                "description": "The app has it already.",
                "headers": {
                  "ETag": {"$ref": "#/components/headers/ETag"},
                  "Location": {"$ref": "#/components/headers/Location"}
                },
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Credential"}}}
              },
              "201": {
                "description": "It is kept.",
                "headers": {
                  "ETag": {"$ref": "#/components/headers/ETag"},
                  "Location": {"$ref": "#/components/headers/Location"}
                },
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Credential"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        },
        "/v1/credentials/{id}": {
          "parameters": [{"$ref": "#/components/parameters/credentialID"}],
          "get": {
            "operationId": "showCredential",
            "tags": ["credentials"],
            "summary": "A credential, without its secret",
            "responses": {
              "200": {
                "description": "The credential.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Credential"}}}
              }
            }
          },
          "put": {
            "operationId": "rotateCredential",
            "tags": ["credentials"],
            "summary": "Puts another one in its place",
            "description": "Pushes go over to it without a gap, once APNs has taken it.",
            "parameters": [{"$ref": "#/components/parameters/ifMatch"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/CredentialDraft"}}}
            },
            "responses": {
              "200": {
                "description": "The credential.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Credential"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"},
              "412": {"$ref": "#/components/responses/Changed"}
            }
          },
          "delete": {
            "operationId": "deleteCredential",
            "tags": ["credentials"],
            "summary": "Forgets a credential and its secret",
            "responses": {"204": {"description": "It is gone."}}
          }
        }
      },
      "schemas": {
        "CredentialID": {"type": "string", "pattern": "^[0-9]+$", "examples": ["1"]},
        "CredentialDraft": {
          "anyOf": [{"$ref": "#/components/schemas/KeyDraft"}, {"$ref": "#/components/schemas/CertificateDraft"}]
        },
        "KeyDraft": {
          "type": "object", "additionalProperties": false,
          "required": ["key", "keyId", "teamId"],
          "properties": {
            "key": {"type": "string", "description": "The text of the .p8 file."},
            "keyId": {"type": "string", "pattern": "^[0-9A-Z]{10}$"},
            "teamId": {"type": "string", "pattern": "^[0-9A-Z]{10}$"},
            "environment": {
              "$ref": "#/components/schemas/OnlyEnvironment",
              "description": "For a key that is limited to one; without it, both."
            },
            "name": {"type": ["string", "null"], "description": "The file's name."}
          },
          "examples": [
            {"key": "-----BEGIN PRIVATE KEY-----\n…", "keyId": "ABCDE12345", "teamId": "FGHIJ67890"}
          ]
        },
        "CertificateDraft": {
          "type": "object", "additionalProperties": false,
          "required": ["certificate"],
          "properties": {
            "certificate": {
              "type": "string",
              "description": "The .p12 file in Base64, or the text of a .pem file with certificate and key."
            },
            "password": {"type": ["string", "null"]},
            "environment": {
              "$ref": "#/components/schemas/OnlyEnvironment",
              "description": "Without it, all that the certificate is for."
            },
            "name": {"type": ["string", "null"], "description": "The file's name."}
          },
          "examples": [{"certificate": "MIIM…", "password": "…"}]
        },
        "OnlyEnvironment": {"enum": ["sandbox", "production", null]},
        "Credential": {
          "type": "object",
          "required": [
            "id", "kind", "keyId", "teamId", "topics", "environments", "expiresAt", "fingerprint", "name", "createdAt",
            "uploadedAt", "warnings"
          ],
          "properties": {
            "id": {"$ref": "#/components/schemas/CredentialID"},
            "kind": {"enum": ["key", "certificate"]},
            "keyId": {"type": ["string", "null"]},
            "teamId": {"type": ["string", "null"]},
            "topics": {
              "type": "array",
              "items": {"type": "string"},
              "description": "Of a certificate; a key is for all apps of its team."
            },
            "environments": {"type": "array", "items": {"$ref": "#/components/schemas/Environment"}},
            "expiresAt": {"$ref": "#/components/schemas/OptionalTime", "description": "A key has no end."},
            "fingerprint": {
              "type": "string",
              "description": "SHA-256 of the certificate, or of the key's public half."
            },
            "name": {"type": "string"},
            "createdAt": {"$ref": "#/components/schemas/Time"},
            "uploadedAt": {"$ref": "#/components/schemas/Time", "description": "When its secret came."},
            "warnings": {
              "type": "array",
              "items": {"type": "string"},
              "description": "An end within 30 days; after an upload, what was strange about the file."
            }
          }
        }
      }
    }
    """#
}
