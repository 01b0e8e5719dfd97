extension OpenAPIDocument {
  static let schedules = #"""
    {
      "paths": {
        "/v1/schedules": {
          "get": {
            "operationId": "listSchedules",
            "tags": ["schedules"],
            "summary": "Schedules, also those that are over, oldest first",
            "parameters": [{"$ref": "#/components/parameters/limit"}, {"$ref": "#/components/parameters/cursor"}],
            "responses": {"200": \#(page("schedules", of: "Schedule"))}
          },
          "post": {
            "operationId": "createSchedule",
            "tags": ["schedules"],
            "summary": "Makes a schedule",
            "description": "Its push is checked whole, but for its audience, which is that of each firing.",
            "parameters": [{"$ref": "#/components/parameters/idempotencyKey"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ScheduleDraft"}}}
            },
            "responses": {
              "200": {
                "description": "The schedule that the same key made before.",
                "headers": {
                  "ETag": {"$ref": "#/components/headers/ETag"},
                  "Location": {"$ref": "#/components/headers/Location"}
                },
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Schedule"}}}
              },
              "201": {
                "description": "The schedule, which is kept.",
                "headers": {
                  "ETag": {"$ref": "#/components/headers/ETag"},
                  "Location": {"$ref": "#/components/headers/Location"}
                },
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Schedule"}}}
              },
              "409": {"$ref": "#/components/responses/Conflict"}
            }
          }
        },
        "/v1/schedules/{id}": {
          "parameters": [{"$ref": "#/components/parameters/scheduleID"}],
          "get": {
            "operationId": "showSchedule",
            "tags": ["schedules"],
            "summary": "A schedule",
            "responses": {
              "200": {
                "description": "The schedule.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Schedule"}}}
              }
            }
          },
          "patch": {
            "operationId": "editSchedule",
            "tags": ["schedules"],
            "summary": "Changes what is named, each whole",
            "description": "Not between single and periodical, and none of what is over. With another trigger, or enabled anew, times count from then on.",
            "parameters": [{"$ref": "#/components/parameters/ifMatch"}],
            "requestBody": {
              "required": true,
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ScheduleEdit"}}}
            },
            "responses": {
              "200": {
                "description": "The schedule.",
                "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Schedule"}}}
              },
              "412": {"$ref": "#/components/responses/Changed"}
            }
          },
          "delete": {
            "operationId": "deleteSchedule",
            "tags": ["schedules"],
            "summary": "Forgets a schedule and its firings",
            "description": "Pushes that it made go on.",
            "responses": {"204": {"description": "It is gone."}}
          }
        },
        "/v1/schedules/{id}/firings": {
          "parameters": [{"$ref": "#/components/parameters/scheduleID"}],
          "get": {
            "operationId": "listFirings",
            "tags": ["schedules"],
            "summary": "What came of its due times, oldest first",
            "responses": {
              "200": {
                "description": "The last 1,000.",
                "content": {
                  "application/json": {
                    "schema": {
                      "type": "object",
                      "required": ["firings"],
                      "properties": {
                        "firings": {
                          "type": "array", "maxItems": 1000,
                          "items": {"$ref": "#/components/schemas/Firing"}
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
        "ScheduleID": {"type": "string", "format": "uuid"},
        "ScheduleName": {
          "type": "string", "minLength": 1, "maxLength": 255,
          "examples": ["morning"],
          "description": "Letters, digits, underscore and Chinese characters; 255 bytes of UTF-8."
        },
        "WallTime": {
          "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$",
          "examples": ["2027-01-31 09:00:00"]
        },
        "Trigger": {
          "type": "object", "additionalProperties": false, "minProperties": 1,
          "description": "One of the two.",
          "properties": {
            "single": {
              "type": ["object", "null"],
              "additionalProperties": false,
              "required": ["time"],
              "properties": {"time": {"$ref": "#/components/schemas/WallTime"}}
            },
            "periodical": {
              "type": ["object", "null"],
              "additionalProperties": false,
              "required": ["start", "end", "time", "time_unit"],
              "properties": {
                "start": {"$ref": "#/components/schemas/WallTime"},
                "end": {"$ref": "#/components/schemas/WallTime"},
                "time": {"type": "string", "pattern": "^[0-9]{2}:[0-9]{2}:[0-9]{2}$"},
                "time_unit": {
                  "type": "string", "pattern": "^([dD][aA][yY]|[wW][eE][eE][kK]|[mM][oO][nN][tT][hH])$",
                  "description": "day, week or month."
                },
                "frequency": {"type": ["integer", "null"], "minimum": 1, "maximum": 100, "default": 1},
                "point": {
                  "type": ["array", "null"],
                  "items": {"type": "string"},
                  "description": "MON to SUN of a week, 01 to 31 of a month; days that a month lacks are left out."
                }
              }
            }
          },
          "examples": [{"single": {"time": "2027-01-31 09:00:00"}}]
        },
        "TimeZoneName": {
          "type": ["string", "null"],
          "description": "Of the tz database, such as Asia/Shanghai; or device, for each device's own.",
          "examples": ["Asia/Shanghai"]
        },
        "ScheduleDraft": {
          "type": "object", "additionalProperties": false,
          "required": ["name", "trigger", "push"],
          "properties": {
            "name": {"$ref": "#/components/schemas/ScheduleName"},
            "enabled": {"enum": [true, null], "description": "Only later false."},
            "trigger": {"$ref": "#/components/schemas/Trigger"},
            "timeZone": {"$ref": "#/components/schemas/TimeZoneName"},
            "push": {"type": "object", "description": "As POST /v3/push takes it."},
            "cid": {
              "type": ["string", "null"],
              "pattern": "^[0-9A-Za-z_-]+$", "maxLength": 64,
              "description": "As in /v3; Idempotency-Key does the same."
            }
          },
          "examples": [
            {
              "name": "morning",
              "trigger": {"single": {"time": "2027-01-31 09:00:00"}},
              "timeZone": "Asia/Shanghai",
              "push": {"platform": "all", "audience": "all", "notification": {"alert": "Good morning"}}
            }
          ]
        },
        "ScheduleEdit": {
          "type": "object", "additionalProperties": false,
          "properties": {
            "name": {"anyOf": [{"$ref": "#/components/schemas/ScheduleName"}, {"type": "null"}]},
            "enabled": {"type": ["boolean", "null"]},
            "trigger": {"anyOf": [{"$ref": "#/components/schemas/Trigger"}, {"type": "null"}]},
            "timeZone": {"$ref": "#/components/schemas/TimeZoneName"},
            "push": {"type": ["object", "null"], "description": "As POST /v3/push takes it."}
          },
          "examples": [{"enabled": false}]
        },
        "Schedule": {
          "type": "object",
          "required": ["id", "name", "enabled", "trigger", "timeZone", "push", "createdAt", "nextAt"],
          "properties": {
            "id": {"$ref": "#/components/schemas/ScheduleID"},
            "name": {"$ref": "#/components/schemas/ScheduleName"},
            "enabled": {"type": "boolean"},
            "trigger": {"$ref": "#/components/schemas/Trigger"},
            "timeZone": {"type": "string"},
            "push": {"type": "object"},
            "createdAt": {"$ref": "#/components/schemas/Time"},
            "nextAt": {"$ref": "#/components/schemas/OptionalTime", "description": "null when it is over."}
          }
        },
        "Firing": {
          "type": "object",
          "required": ["due", "at", "msg_id"],
          "properties": {
            "due": {"$ref": "#/components/schemas/WallTime"},
            "at": {"$ref": "#/components/schemas/Time"},
            "msg_id": {"type": ["string", "null"], "description": "The push; null when there was none."},
            "error": {
              "type": "object",
              "required": ["code", "message"],
              "properties": {"code": {"type": "integer"}, "message": {"type": "string"}}
            }
          }
        }
      }
    }
    """#
}
