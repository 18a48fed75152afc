import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The secrets that a user generates and exports. */
export const SECRETS = {
  SERVICE_SECRET: 'uKq0vF3+5cM/9n1bYtXzL2aWgR8dSe4hJmPiOo7TfxE=',
  SERVICE_SEALING_KEY: 'Z1pQ+x7Lr/0mNwJ4cTgB9kVyDs6UeFhAoIiR2tXlqYM=',
  MINIO_PASSWORD: '5be1d0937ca84f62915c0fa7be2d84936f1c0d7a52e98b43',
  POSTGRES_PASSWORD: '8c1f0a6d5b3e92740f6c8ad1e0b7359246d8c0fa1e9b37d5',
};

export type Variables = Readonly<Record<string, string>>;

export interface Container {
  image: string;
  command?: string[];
  /** A variable without a value is passed on from the user's environment if it is set there. */
  environment?: Record<string, string | null>;
  ports?: string[];
  container_name?: string;
  build?: { target: string };
  cap_drop?: string[];
  security_opt?: string[];
  volumes?: string[];
  healthcheck?: { test: string[] };
  profiles?: string[];
}

export interface Project {
  services: Record<string, Container>;
}

/** Reads docker-compose.yml like Compose: substitutes variables, and throws the message of the file for missing ones. */
export function readProject(user: Variables): Project {
  const raw: unknown = parse(readFileSync(`${ROOT}/docker-compose.yml`, 'utf8'), { merge: true });
  const project: Project = JSON.parse(JSON.stringify(raw), (_, value: unknown) =>
    typeof value === 'string' ? fill(value, user) : value,
  );
  for (const { environment = {} } of Object.values(project.services)) {
    for (const [name, value] of Object.entries(environment)) environment[name] = value ?? user[name] ?? null;
  }
  return project;
}

const VARIABLE = /\$\{(\w+)(?::([?+-])([^}]*))?\}/g;

function fill(text: string, user: Variables): string {
  return text.replace(VARIABLE, (_, name: string, operator: string | undefined, rest: string) => {
    const value = user[name];
    if (value) return operator === '+' ? rest : value;
    if (operator === '?') throw new Error(`${name} is missing: ${rest}`);
    return operator === '-' ? rest : '';
  });
}

interface TargetContainer {
  name: string;
  args: string[];
  env: Record<string, string>;
}

/** The containers of the product's targets with their arguments and environment. */
export function targetsOf(project: Project): TargetContainer[] {
  return Object.entries(project.services)
    .filter(([, { image }]) => image.startsWith('agent-hosting-service'))
    .map(([name, { command = [], environment = {} }]) => {
      const given = Object.entries(environment).filter(
        (entry): entry is [string, string] => entry[1] !== null,
      );
      return { name, args: command, env: Object.fromEntries(given) };
    });
}
