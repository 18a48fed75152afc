import { discord } from './discord/product.ts';
import { http } from './http/product.ts';
import type { Product } from './product.ts';
import { slack } from './slack/product.ts';
import { telegram } from './telegram/product.ts';

const PRODUCTS: Readonly<Record<string, Product>> = { slack, telegram, discord, http };

export function productOf(provider: string): Product {
  const product = PRODUCTS[provider];
  if (!product) throw new Error(`no product has the name ${provider}`);
  return product;
}
