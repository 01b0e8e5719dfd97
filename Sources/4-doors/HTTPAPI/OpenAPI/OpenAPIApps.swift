extension OpenAPIDocument {
  static let apps = #"""
    {
      "paths": {
        "/v1/apps": {
          "get": {
            "operationId": "listApps",
            "tags": ["apps"],
            "summary": "Apps, oldest first",
            "description": "All for a developer, itself alone for an app.",
            "security": [{"app": []}, {"developer": []}],
            "parameters": [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/cursor"}],
            "responses": {"200": \#(page("apps", of: "App"))}
          },
          "post": {
            "operationId": "makeApp",
            "tags": ["apps"],
            "summary": "Makes an app, and tells its master secret this once",
            "description": "By a developer. An Idempotency-Key holds for ever here.",
            "security": [{"developer": []}],
            "parameters": [{"$ref": "#/components/parameters/idempotencyKey"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AppDraft"}}}
            },
            "responses": {
              "200": {
                "description": "The app that the same key made before; its secret was told then.",
                "headers": {
                  "ETag": {"$ref": "#/components/headers/ETag"},
                  "Location": {"$ref": "#/components/headers/Location"}
                },
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewApp"}}}
              },
              "201": {
                "description": "The app, with its secret.",
                "headers": {
                  "ETag": {"$ref": "#/components/headers/ETag"},
                  "Location": {"$ref": "#/components/headers/Location"}
                },
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NewApp"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        },
        "/v1/apps/{appKey}": {
          "parameters": [{"$ref": "#/components/parameters/appKey"}],
          "get": {
            "operationId": "showApp",
            "tags": ["apps"],
            "summary": "An app",
            "description": "By the app itself, or by a developer.",
            "security": [{"app": []}, {"developer": []}],
            "responses": {
              "200": {
                "description": "The app.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/App"}}}
              }
            }
          },
          "patch": {
            "operationId": "editApp",
            "tags": ["apps"],
            "summary": "Changes what people call an app",
            "description": "By the app itself, or by a developer.",
            "security": [{"app": []}, {"developer": []}],
            "parameters": [{"$ref": "#/components/parameters/ifMatch"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AppEdit"}}}
            },
            "responses": {
              "200": {
                "description": "The app.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/App"}}}
              },
              "412": {"$ref": "#/components/responses/Changed"}
            }
          },
          "delete": {
            "operationId": "removeApp",
            "tags": ["apps"],
            "summary": "Ends an app",
            "description": "By a developer. From the answer on its key is nobody's: what has not left of its pushes never leaves, and its devices call in vain.",
            "security": [{"developer": []}],
            "responses": {"204": {"description": "It is gone."}}
          }
        },
        "/v1/apps/{appKey}/secret": {
          "parameters": [{"$ref": "#/components/parameters/appKey"}],
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
        "BundleID": {
          "type": "string", "pattern": "^[A-Za-z0-9-]([A-Za-z0-9.-]{0,153}[A-Za-z0-9-])?$",
          "examples": ["com.example.app"]
        },
        "AppName": {"type": ["string", "null"], "maxLength": 60, "description": "At most 255 bytes."},
        "AppDraft": {
          "type": "object", "additionalProperties": false,
          "required": ["bundleId"],
          "properties": {
            "bundleId": {"$ref": "#/components/schemas/BundleID"},
            "name": {"$ref": "#/components/schemas/AppName"}
          },
          "examples": [{"bundleId": "com.example.app", "name": "Example"}]
        },
        "AppEdit": {
          "type": "object", "additionalProperties": false,
          "properties": {
            "name": {
              "type": ["string", "null"], "maxLength": 60, "description": "At most 255 bytes; empty: it has none."
            }
          },
          "examples": [{"name": "Example"}]
        },
        "App": {
          "type": "object",
          "required": ["appKey", "bundleId", "name", "createdAt"],
          "properties": {
            "appKey": {"$ref": "#/components/schemas/AppKey"},
            "bundleId": {"$ref": "#/components/schemas/BundleID"},
            "name": {"type": ["string", "null"], "description": "What people call it."},
            "createdAt": {"$ref": "#/components/schemas/Time"}
          }
        },
        "NewApp": {
          "allOf": [{"$ref": "#/components/schemas/App"}],
          "type": "object",
          "required": ["masterSecret"],
          "properties": {
            "masterSecret": {"type": ["string", "null"], "description": "Only its hash is kept."}
          }
        },
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
