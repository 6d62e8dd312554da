// Writes a TypeScript file in which each message of a log has the type that the protocol gives it.
// usage: node types.mjs LOG FILE.ts

import { readFileSync, writeFileSync } from 'node:fs';

const [log, file] = process.argv.slice(2);
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const type = (message) => {
  if (message.type === 'event') return `${capital(message.event)}Event`;
  return message.success ? `${capital(message.command)}Response` : 'ErrorResponse';
};
const messages = new Set(readFileSync(log, 'utf8').trim().split('\n'));
const lines = [...messages].map((text, number) => {
  const message = JSON.parse(text);
  return `export const m${number}: P.${type(message)} = ${JSON.stringify(message)};`;
});
writeFileSync(file, `import { DebugProtocol as P } from '@vscode/debugprotocol';\n${lines.join('\n')}\n`);
