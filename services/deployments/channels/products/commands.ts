const COMMANDS = ['new', 'stop', 'status', 'link', 'unlink', 'help'] as const;
export type Command = (typeof COMMANDS)[number];

const WHOLE_MESSAGE = /^!([a-z]+)$/i;

/** Undefined for another name. */
export function commandNamed(name: string): Command | undefined {
  const lower = name.toLowerCase();
  return COMMANDS.find((command) => command === lower);
}

/** The command of a message that is nothing but `!new` and the like. */
export function commandInText(text: string): Command | undefined {
  const [, name] = WHOLE_MESSAGE.exec(text.trim()) ?? [];
  return name === undefined ? undefined : commandNamed(name);
}
