const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('content-length: ');

/** Whether the first `filled` bytes are a complete HTTP response. */
export function isComplete(answer: Buffer, filled: number): boolean {
  const head = answer.indexOf(HEAD_END);
  if (head < 0 || head + HEAD_END.length > filled) return false;
  const at = answer.indexOf(LENGTH);
  if (at < 0 || at > head) throw new Error(`an answer without length: ${answer.toString('utf8', 0, head)}`);
  let length = 0;
  for (let index = at + LENGTH.length; ; index++) {
    const digit = (answer[index] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) break;
    length = length * 10 + digit;
  }
  return filled >= head + HEAD_END.length + length;
}
