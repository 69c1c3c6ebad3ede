<#
.SYNOPSIS
Stock keeping.
#>
param([string]$Path)

$Script:Limit = 100

# Price with tax.
function Get-Price {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)][double]$Price,
        $Rate = 0.2
    )
    process { $Price * (1 + $Rate) }
}

function Add-Two($a, $b) { return $a + $b }
filter Only-Even { if ($_ % 2 -eq 0) { $_ } }

enum Colour {
    Red
    Green
}

class Shop : Base {
    [string]$Name
    static [int]$Count = 0
    Shop([string]$name) { $this.Name = $name }
    [bool] Sell([string]$item) {
        return $true
    }
    static [Shop] Open() { return $null }
    hidden [void] Close() { }
}
