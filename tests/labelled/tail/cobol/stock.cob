       IDENTIFICATION DIVISION.
       PROGRAM-ID. STOCK.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  WS-COUNT         PIC 9(4) VALUE 0.
       01  WS-ITEM.
           05  ITEM-NAME    PIC X(20).
      * A REMARK.
       PROCEDURE DIVISION.
       MAIN-SECTION SECTION.
       MAIN-PARA.
           PERFORM ADD-ITEM.
           STOP RUN.
       ADD-ITEM.
           ADD 1 TO WS-COUNT.
           DISPLAY "ADDED".
