import { ToolError } from '../../tool-calls/tool-error.ts';
import { decimal, type Fraction, negative, power, product, quotient, remainder, sum } from './fraction.ts';

const MAX_DEPTH = 100;
const TOKEN = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([-+*/%^()]))/y;

/**
 * Evaluates an expression exactly. Precedence from low to high: `+ -`, `* / %`, unary sign, `^` (right-associative, so
 * -2 ^ 2 is -4 and 2 ^ 3 ^ 2 is 512), parentheses. Throws a ToolError that names the problem.
 */
export function evaluate(expression: string): Fraction {
  const tokens = tokenize(expression);
  let position = 0;
  let depth = 0;

  function accept(...operators: string[]): string | undefined {
    const token = tokens[position];
    if (token === undefined || !operators.includes(token)) return undefined;
    position++;
    return token;
  }

  function parseSum(): Fraction {
    let value = parseProduct();
    for (let sign = accept('+', '-'); sign; sign = accept('+', '-')) {
      const next = parseProduct();
      value = sum(value, sign === '+' ? next : negative(next));
    }
    return value;
  }

  function parseProduct(): Fraction {
    let value = parseSigned();
    for (let sign = accept('*', '/', '%'); sign; sign = accept('*', '/', '%')) {
      value = (sign === '*' ? product : sign === '/' ? quotient : remainder)(value, parseSigned());
    }
    return value;
  }

  function parseSigned(): Fraction {
    return nested(() => {
      const sign = accept('+', '-');
      if (sign) return sign === '+' ? parseSigned() : negative(parseSigned());
      const base = parseAtom();
      return accept('^') ? power(base, parseSigned()) : base;
    });
  }

  function parseAtom(): Fraction {
    if (accept('(')) {
      const value = parseSum();
      if (!accept(')')) throw new ToolError(`A ) is missing ${location()}.`);
      return value;
    }
    const token = tokens[position];
    if (token === undefined || !/[\d.]/.test(token))
      throw new ToolError(`A number is missing ${location()}.`);
    position++;
    return decimal(token);
  }

  function nested(parse: () => Fraction): Fraction {
    if (++depth > MAX_DEPTH) throw new ToolError('The expression is nested too deeply.');
    const value = parse();
    depth--;
    return value;
  }

  function location(): string {
    return position < tokens.length ? `before ${tokens[position]}` : 'at the end';
  }

  const value = parseSum();
  if (position < tokens.length) throw new ToolError(`An operator is missing ${location()}.`);
  return value;
}

function tokenize(expression: string): string[] {
  const tokens: string[] = [];
  const text = expression.trimEnd();
  for (let from = 0; from < text.length; from = TOKEN.lastIndex) {
    TOKEN.lastIndex = from;
    const found = TOKEN.exec(text);
    if (!found) {
      const rest = JSON.stringify(text.slice(from).trim().slice(0, 20));
      throw new ToolError(`${rest} is not a number or an operator.`);
    }
    tokens.push(found[1] ?? found[2] ?? '');
  }
  return tokens;
}
