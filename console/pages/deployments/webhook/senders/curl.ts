import { shellWord } from '../../../../parts/curl/shell-word.ts';

export const curlSender = (url: string) => `#!/usr/bin/env bash
# bash send.sh '{"event": "hello"}'   (needs curl and openssl)
# openssl takes the secret as an argument, which others on the same machine can see for a moment.
url=${shellWord(url)}
example='{"event": "hello"}'
body="\${1:-$example}"

timestamp=$(date +%s)
digest=$(printf %s "$body" | openssl dgst -sha256 -r | cut -d ' ' -f 1)
signature=$(printf '%s.%s' "$timestamp" "$digest" |
  openssl dgst -sha256 -hmac "\${WEBHOOK_SECRET:?is not set}" -binary | openssl base64 -A)

printf %s "$body" | curl -sS --fail-with-body "$url" \\
  -H 'Content-Type: application/json' \\
  -H "X-WEBHOOK-TIMESTAMP: $timestamp" \\
  -H "X-WEBHOOK-SIGNATURE: $signature" \\
  --data-binary @-
`;
