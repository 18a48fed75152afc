/** The most lines that are kept until a receiver is connected. */
const MAX_EARLY_LINES = 1_000;

/** Passes log lines on to a second receiver, beside the standard output. Lines before `connect` are kept for it. */
export class LogCopy {
  #early: string[] = [];
  #receive: ((line: string) => void) | undefined;

  write(line: string): void {
    if (this.#receive) this.#receive(line);
    else if (this.#early.length < MAX_EARLY_LINES) this.#early.push(line);
  }

  connect(receive: (line: string) => void): void {
    this.#receive = receive;
    for (const line of this.#early.splice(0)) receive(line);
  }
}
