/**
 * Declarations: what a subject needs and everybody can read before it runs. JSON in a manifest file; here as values.
 */

/** A flat list: resource type, operation, target. Relative paths are inside the module's own folder. */
export const system = {
  name: "system",
  access: [
    { resource_type: "network", operation: "receive", target: "https://huggingface.co" },
    { resource_type: "network", operation: "send", target: "https://api.openai.com" },
    { resource_type: "filesystem", operation: "read", target: "models/" },
    { resource_type: "filesystem", operation: "create", target: "tmp/" },
  ],
};

export const reports = {
  name: "reports",
  access: [
    { resource_type: "network", operation: "receive", target: "https://api.example.com/v1/" },
    { resource_type: "network", operation: "send", target: "https://storage.example.com/upload" },
  ],
};

/** Engines and extractors declare by phase. */
export const whisper = {
  name: "whisper",
  runtime: {
    access: [{ resource_type: "network", operation: "receive", target: "https://api.example.com/v1/" }],
  },
  install: {
    access: [{ resource_type: "network", operation: "receive", target: "https://packages.example.com" }],
  },
};

/** A declared pattern, with targets that it allows and targets that it does not. */
export const PATTERNS = [
  {
    declared: "https://api.example.com/v1/reports",
    allows: ["https://api.example.com/v1/reports", "https://api.example.com/v1/reports?page=2"],
    blocks: ["https://api.example.com/v1/reports/7", "http://api.example.com/v1/reports"],
  },
  {
    declared: "https://api.example.com",
    allows: ["https://api.example.com/any/path"],
    blocks: ["http://api.example.com/", "https://api.example.com:8443/", "https://uploads.example.com/"],
  },
  {
    declared: "api.example.com",
    allows: ["https://api.example.com/", "http://api.example.com:8080/x", "api.example.com:22"],
    blocks: ["https://uploads.example.com/"],
  },
  {
    declared: "api.example.com:443",
    allows: ["https://api.example.com/", "api.example.com:443"],
    blocks: ["http://api.example.com/", "api.example.com:80"],
  },
  {
    declared: "uploads.example.com:443",
    allows: ["https://uploads.example.com/x"],
    blocks: ["https://api.example.com/"],
  },
  {
    declared: "localhost:8080",
    allows: ["http://127.0.0.1:8080/", "http://[::1]:8080/", "http://localhost:8080/"],
    blocks: ["http://localhost:8081/"],
  },
] as const;
