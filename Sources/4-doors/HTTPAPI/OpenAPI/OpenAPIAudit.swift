extension OpenAPIDocument {
  static let audit = #"""
    {
      "paths": {
        "/v1/audit": {
          "get": {
            "operationId": "listAudit",
            "tags": ["audit"],
            "summary": "Who changed what of the app, the newest first",
            "parameters": [
              {"$ref": "#/components/parameters/limit"},
              {"$ref": "#/components/parameters/cursor"},
              {"name": "kind", "in": "query", "schema": {"$ref": "#/components/schemas/AuditKind"}},
              {
                "name": "from", "in": "query",
                "schema": {"$ref": "#/components/schemas/Time"}
              },
              {
                "name": "before", "in": "query",
                "schema": {"$ref": "#/components/schemas/Time"}
              }
            ],
            "responses": {"200": \#(page("entries", of: "AuditEntry"))}
          }
        }
      },
      "schemas": {
        "AuditKind": {
          "enum": [
            "app.made", "app.deleted", "app.secretRenewed", "credential.added", "credential.rotated",
            "credential.removed", "push.paused", "push.resumed", "push.withdrawn", "schedule.made", "schedule.changed",
            "schedule.deleted", "segment.kept", "segment.deleted", "abTest.made", "abTest.deleted", "device.deleted",
            "devices.imported", "group.made", "group.joined", "developer.made", "backup.made",
            "sealingKey.renewed", "push.cleared", "webhook.made", "webhook.changed", "webhook.deleted",
            "push.sent", "device.changed", "tag.changed", "tag.deleted", "alias.changed", "alias.deleted", "file.added",
            "file.deleted", "channel.made", "channel.deleted", "app.renamed",
            "webhook.secretRenewed",
            "message.withdrawn"
          ]
        },
        "AuditEntry": {
          "type": "object",
          "required": ["id", "at", "kind", "appKey", "by", "address", "subject", "words"],
          "properties": {
            "id": {"type": "string", "pattern": "^[0-9]+$"},
            "at": {"$ref": "#/components/schemas/Time"},
            "kind": {"$ref": "#/components/schemas/AuditKind"},
            "appKey": {"type": ["string", "null"]},
            "by": {
              "type": "object",
              "required": ["kind", "key"],
              "description": "app, developer and group by their keys, command by the user who ran it.",
              "properties": {
                "kind": {"enum": ["app", "developer", "command", "service", "group"]},
                "key": {"type": ["string", "null"]}
              }
            },
            "address": {
              "type": ["string", "null"],
              "description": "From where, as the service saw it: behind a proxy, the proxy's."
            },
            "subject": {"type": ["string", "null"], "description": "Id, key or name of what it was done to."},
            "words": {"type": ["string", "null"]}
          },
          "examples": [
            {
              "id": "7", "at": "2026-11-30T09:00:00.000Z", "kind": "push.withdrawn", "appKey": "7d431e42dfa6a6d693ac2d04",
              "by": {"kind": "app", "key": "7d431e42dfa6a6d693ac2d04"}, "address": "192.0.2.7",
              "subject": "18100287008546132", "words": null
            }
          ]
        }
      }
    }
    """#
}
