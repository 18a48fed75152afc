import { decimal, type Fraction, negative, power, product, quotient, remainder, sum } from './fraction.ts';

const MAX_DEPTH = 100;
const TOKEN = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([-+*/%^()]))/y;

/**
 * Calculates an expression exactly. From weak to strong: `+ -`, `* / %`, a sign, `^` (from the right, so that
 * -2 ^ 2 is -4 and 2 ^ 3 ^ 2 is 512), parentheses. Throws an Error that says what is wrong with it.
 */
export function evaluate(expression: string): Fraction {
  const tokens = tokensOf(expression);
  let at = 0;
  let depth = 0;

  function take(...operators: string[]): string | undefined {
    const token = tokens[at];
    if (token === undefined || !operators.includes(token)) return undefined;
    at++;
    return token;
  }

  function terms(): Fraction {
    let value = factors();
    for (let sign = take('+', '-'); sign; sign = take('+', '-')) {
      const next = factors();
      value = sum(value, sign === '+' ? next : negative(next));
    }
    return value;
  }

  function factors(): Fraction {
    let value = signed();
    for (let sign = take('*', '/', '%'); sign; sign = take('*', '/', '%')) {
      value = (sign === '*' ? product : sign === '/' ? quotient : remainder)(value, signed());
    }
    return value;
  }

  function signed(): Fraction {
    return deeper(() => {
      const sign = take('+', '-');
      if (sign) return sign === '+' ? signed() : negative(signed());
      const base = single();
      return take('^') ? power(base, signed()) : base;
    });
  }

  function single(): Fraction {
    if (take('(')) {
      const value = terms();
      if (!take(')')) throw new Error(`a ) is missing ${place()}`);
      return value;
    }
    const token = tokens[at];
    if (token === undefined || !/[\d.]/.test(token)) throw new Error(`a number is missing ${place()}`);
    at++;
    return decimal(token);
  }

  function deeper(calculate: () => Fraction): Fraction {
    if (++depth > MAX_DEPTH) throw new Error('the expression is nested too deeply');
    const value = calculate();
    depth--;
    return value;
  }

  function place(): string {
    return at < tokens.length ? `before ${tokens[at]}` : 'at the end';
  }

  const value = terms();
  if (at < tokens.length) throw new Error(`an operator is missing ${place()}`);
  return value;
}

function tokensOf(expression: string): string[] {
  const tokens: string[] = [];
  const text = expression.trimEnd();
  for (let from = 0; from < text.length; from = TOKEN.lastIndex) {
    TOKEN.lastIndex = from;
    const found = TOKEN.exec(text);
    if (!found)
      throw new Error(`${JSON.stringify(text.slice(from).trim().slice(0, 20))} is no number and no operator`);
    tokens.push(found[1] ?? found[2] ?? '');
  }
  return tokens;
}
