// Text on a banner image is dark or white, and the image is dimmed only where white text needs it.
import { expect, test } from '@jest/globals';
import { bannerTextOf } from '../../../services/renderer/images/banner-text.ts';

const WIDTH = 160;

/** @param levels the grey of each row. */
function image(levels: number[], channels = 3) {
  return {
    data: Buffer.concat(levels.map((level) => Buffer.alloc(WIDTH * channels, level))),
    info: { width: WIDTH, channels },
  };
}

test.each([
  ['white', image(Array(80).fill(255)), { text: 'dark', dim: 1 }],
  ['light grey of one channel', image(Array(80).fill(200), 1), { text: 'dark', dim: 1 }],
  ['black', image(Array(80).fill(0)), { text: 'light', dim: 1 }],
  ['dark', image(Array(80).fill(90)), { text: 'light', dim: 1 }],
  ['white and black', image([...Array(40).fill(255), ...Array(40).fill(0)]), { text: 'light', dim: 0.45 }],
  ['of middle grey', image(Array(80).fill(153)), { text: 'light', dim: 0.75 }],
])('when an image is %s, then its text can be read', (_name, pixels, expected) => {
  const { text, dim } = bannerTextOf(pixels);

  expect({ text, dim: Number(dim.toFixed(3)) }).toEqual(expected);
});
