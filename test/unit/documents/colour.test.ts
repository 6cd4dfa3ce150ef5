// Contrast of colours: text on the brand's colour, and logos on their background.
import { describe, expect, test } from '@jest/globals';
import { lightnessContrast, paletteOf, parseColour } from '#libs/documents/colour.ts';
import { logoGround } from '../../../services/renderer/images/logo-ground.ts';

describe('lightness contrast', () => {
  // The published test values of APCA 0.0.98G-4g.
  test.each([
    ['#888888', '#ffffff', 63.06],
    ['#ffffff', '#888888', 68.54],
    ['#000000', '#aaaaaa', 58.15],
    ['#aaaaaa', '#000000', 56.24],
    ['#112233', '#ddeeff', 91.67],
    ['#ddeeff', '#112233', 93.07],
  ])('when text is %s on %s, then it is %d', (text, ground, expected) => {
    expect(lightnessContrast(parseColour(text), parseColour(ground))).toBeCloseTo(expected, 1);
  });

  test.each([
    ['#ff0000', '#ffffff'],
    ['#ff5a5f', '#ffffff'],
    ['#808080', '#ffffff'],
    ['#0a7', '#ffffff'],
    ['#ffa500', '#000000'],
    ['#f4c542', '#000000'],
    ['#fff', '#000000'],
  ])('when the brand is %s, then text on it is %s', (brand, text) => {
    expect(paletteOf(brand).onBrand).toBe(text);
  });
});

describe('the background of a logo', () => {
  const [paper, dark] = ['#ffffff', '#1b1f24'];
  const logo = (...paint: [string, number][]) => ({
    dataUri: 'data:,',
    paint: paint.map(([colour, share]) => ({ colour: [...parseColour(colour)] as [number, number, number], share })),
  });

  test('when a white logo stands on a dark field, then it needs no background', () => {
    expect(logoGround(logo(['#ffffff', 1]), '#1a1a2e', [paper, dark])).toBeUndefined();
  });

  test('when a white logo stands on paper, then its background is the brand colour; with a light brand, the dark colour', () => {
    expect(logoGround(logo(['#ffffff', 1]), paper, ['#2b46e0', dark])).toBe('#2b46e0');
    expect(logoGround(logo(['#ffffff', 0.9], ['#eeeeee', 0.1]), paper, ['#ffee00', dark])).toBe(dark);
  });

  test('when a dark logo stands on a dark field, then its background is the paper colour', () => {
    expect(logoGround(logo(['#1a2a33', 0.6], ['#c8552b', 0.4]), '#1a1a2e', [paper, dark])).toBe(paper);
  });

  test('when a logo has white letters in a dark sign, then it needs no background on paper', () => {
    expect(logoGround(logo(['#1a2a33', 0.8], ['#ffffff', 0.2]), paper, ['#2b46e0', dark])).toBeUndefined();
  });

  test('when it brings a background of its own, or there is no logo, then it needs none', () => {
    expect(logoGround({ dataUri: 'data:,' }, '#1a1a2e', [paper])).toBeUndefined();
    expect(logoGround(undefined, '#1a1a2e', [paper])).toBeUndefined();
  });
});
