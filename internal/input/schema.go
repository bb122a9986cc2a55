package input

// Schema is the input schema of tools that ask for input. That exactly one of the kinds is
// set is left to [Read]: not every client can show a schema that says so.
const Schema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["title"],
  "minProperties": 2,
  "properties": {
    "title": {"type": "string", "minLength": 1, "maxLength": 200, "description": "What the person is asked for, in a few words."},
    "instructions": {"type": "string", "maxLength": 4000, "description": "What the person should know to answer. Plain text."},
    "questions": {
      "type": "array", "minItems": 1, "maxItems": 20,
      "description": "Questions that are answered with a text, a number or files. Set exactly one of questions, choose, markup and approve.",
      "items": {
        "type": "object", "additionalProperties": false, "required": ["id", "label"],
        "properties": {
          "id": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]{0,63}$", "description": "Key of the answer."},
          "label": {"type": "string", "minLength": 1, "maxLength": 500, "description": "The question."},
          "type": {"type": "string", "enum": ["text", "number", "file"], "default": "text"},
          "optional": {"type": "boolean", "default": false},
          "help": {"type": "string", "maxLength": 500},
          "accept": {
            "type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 128},
            "description": "Of files: media types that are accepted, such as image/* or application/pdf."
          },
          "maxFiles": {"type": "integer", "minimum": 1, "maximum": 10, "default": 1, "description": "Of files: how many may be sent."},
          "maxBytes": {"type": "integer", "minimum": 1, "description": "Of files: how large each may be."}
        }
      }
    },
    "choose": {
      "type": "object", "additionalProperties": false, "required": ["options"],
      "description": "A choice between two to six options.",
      "properties": {
        "options": {
          "type": "array", "minItems": 2, "maxItems": 6,
          "items": {
            "type": "object", "additionalProperties": false, "required": ["id", "label"],
            "properties": {
              "id": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]{0,63}$"},
              "label": {"type": "string", "minLength": 1, "maxLength": 500},
              "imageUrl": {"type": "string", "pattern": "^https://", "maxLength": 2000, "description": "An https address, shown as a link."}
            }
          }
        },
        "chooseMode": {"type": "string", "enum": ["single", "multiple"], "default": "single"}
      }
    },
    "markup": {
      "type": "object", "additionalProperties": false, "required": ["image"],
      "description": "An image on which the person draws, or describes regions.",
      "properties": {
        "image": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The id of a file that is an image, or an https address."},
        "label": {"type": "string", "maxLength": 500, "description": "What is to be marked; the title when absent."},
        "noNotes": {"type": "boolean", "default": false, "description": "The person is not asked for notes."}
      }
    },
    "approve": {
      "type": "object", "additionalProperties": false,
      "description": "A yes or no, with notes.",
      "properties": {
        "label": {"type": "string", "maxLength": 500, "description": "What is agreed to; the title when absent."},
        "noNotes": {"type": "boolean", "default": false, "description": "The person is not asked for notes."}
      }
    }
  }
}`
