import type * as Sdk from '@google/genai';
import { describe, expectTypeOf, it } from 'vitest';
import type * as Published from '../../src/sdk.js';

describe('the types that published declarations name', () => {
  it("are the SDK's own where it is installed", () => {
    expectTypeOf<Published.FunctionCall>().toEqualTypeOf<Sdk.FunctionCall>();
    expectTypeOf<Published.FunctionDeclaration>().toEqualTypeOf<Sdk.FunctionDeclaration>();
    expectTypeOf<Published.Part>().toEqualTypeOf<Sdk.Part>();
    expectTypeOf<Published.PartListUnion>().toEqualTypeOf<Sdk.PartListUnion>();
    expectTypeOf<Published.Content>().toEqualTypeOf<Sdk.Content>();
    expectTypeOf<Published.ContentListUnion>().toEqualTypeOf<Sdk.ContentListUnion>();
    expectTypeOf<Published.ToolConfig>().toEqualTypeOf<Sdk.ToolConfig>();
    expectTypeOf<Published.ToolListUnion>().toEqualTypeOf<Sdk.ToolListUnion>();
    expectTypeOf<Published.GenerateContentConfig>().toEqualTypeOf<Sdk.GenerateContentConfig>();
    expectTypeOf<Published.GenerateContentParameters>().toEqualTypeOf<Sdk.GenerateContentParameters>();
    expectTypeOf<Published.GenerateContentResponse>().toEqualTypeOf<Sdk.GenerateContentResponse>();
    expectTypeOf<Published.Models>().toEqualTypeOf<Sdk.Models>();
  });

  it('describe data of the SDK where it is not', () => {
    expectTypeOf<Sdk.FunctionCall>().toExtend<Published.OwnFunctionCall>();
    expectTypeOf<Sdk.FunctionDeclaration>().toExtend<Published.OwnFunctionDeclaration>();
    expectTypeOf<Sdk.Part>().toExtend<Published.OwnPart>();
    expectTypeOf<Published.OwnPartListUnion>().toExtend<Sdk.PartListUnion>();
    expectTypeOf<Sdk.PartListUnion>().toExtend<Published.OwnPartListUnion>();
    expectTypeOf<Sdk.ContentListUnion>().toExtend<Published.OwnContentListUnion>();
    expectTypeOf<Published.OwnContentListUnion>().toExtend<Sdk.ContentListUnion>();
    expectTypeOf<Sdk.ToolConfig>().toExtend<Published.OwnToolConfig>();
    expectTypeOf<Published.OwnToolListUnion>().toExtend<Sdk.ToolListUnion>();
    expectTypeOf<Sdk.GenerateContentResponse>().toExtend<Published.OwnGenerateContentResponse>();
  });
});
