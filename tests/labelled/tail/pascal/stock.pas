unit Stock;

interface

uses SysUtils;

const
  Limit = 100;

type
  TPrice = Integer;
  TColour = (Red, Green);
  TItem = record
    Name: string;
  end;
  { Sells. }
  TShop = class(TBase, ISeller)
  private
    FName: string;
  public
    constructor Create(const AName: string);
    function Sell(Item: TItem): Boolean; virtual;
    property Name: string read FName;
  end;
  ISeller = interface
    procedure Ping;
  end;

function WithTax(Price: Double): Double;

implementation

// Price with tax.
function WithTax(Price: Double): Double;
begin
  Result := Price * 1.2;
end;

constructor TShop.Create(const AName: string);
begin
  FName := AName;
end;

procedure Reset;
var
  I: Integer;
begin
end;

end.
